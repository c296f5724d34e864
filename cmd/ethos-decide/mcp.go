//go:build !nocel

package main

import (
	"context"

	"ethos/pkg/cli"
)

type mcpCmd struct{}

// Help implements kong.HelpProvider.
func (*mcpCmd) Help() string {
	return `Serves the Model Context Protocol: run (a command, decided, confined in one boundary for the connection, and recorded), decide, explain, denials
and policies. The server is the program ethos-mcp beside this one.`
}

// Run implements the command. It replaces this process with the server.
func (*mcpCmd) Run(_ context.Context, sys *cli.System) error {
	sys.Waits("messages of the Model Context Protocol", "an agent starts this program and writes them: add it to the MCP servers in the agent's settings")
	return cli.Become(sys, "ethos-mcp", nil)
}
