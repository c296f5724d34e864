// Ethos-mcp is the MCP server that `ethos-decide mcp` becomes. It is a program of its own
// so that no hook waits for its library to be initialised.
package main

import (
	"context"

	"ethos/pkg/cli"
)

func main() {
	cli.MainRaw("ethos-mcp", func(ctx context.Context, sys *cli.System, args []string) cli.Status {
		if len(args) > 0 {
			sys.Fail("ethos-mcp takes no arguments", "ethos-decide mcp starts it: it speaks MCP on standard input and output")
			return cli.Usage
		}
		if err := serve(ctx, sys); err != nil && ctx.Err() == nil {
			sys.Fail(err.Error(), "an MCP client starts ethos-decide mcp, and speaks to it on its standard input and output")
			return cli.BadInput
		}
		return cli.OK
	})
}
