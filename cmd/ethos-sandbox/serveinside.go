package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/signing"
)

// serveInside does what this program is for inside of a boundary, and then does not
// return: git's signatures, and to go on where bubblewrap has started it.
func serveInside(args []string) {
	status, is := sandbox.Inside(args)
	if signing.Asks(args) {
		cli.MainRaw("ethos-sandbox", func(context.Context, *cli.System, []string) cli.Status {
			return cli.Status(signing.Inside(args, plan.SigningSocket))
		})
	}
	if is {
		cli.MainRaw("ethos-sandbox", func(context.Context, *cli.System, []string) cli.Status { return cli.Status(status) })
	}
}
