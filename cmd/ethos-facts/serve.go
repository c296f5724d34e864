package main

import (
	"context"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/session/cmdserver"
)

// serveCmd does what the program does, for its callers.
type serveCmd struct{}

// Run implements the command.
func (*serveCmd) Run(ctx context.Context, sys *cli.System) error {
	return cmdserver.Command(ctx, sys, cmdserver.Program{Name: "ethos-facts", Run: func(ctx context.Context, sys *cli.System, args []string) cli.Status {
		ceiling.Forget()
		return program(args).Run(ctx, sys, args)
	}})
}
