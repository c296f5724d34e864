package main

import (
	"context"
	"os"
	"runtime/debug"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/signing"
)

func main() {
	if signing.Asks(os.Args) {
		cli.MainRaw("ethos-sandbox", func(context.Context, *cli.System, []string) cli.Status {
			return cli.Status(signing.Inside(os.Args, plan.SigningSocket))
		})
	}
	debug.SetGCPercent(400) // live memory is small: a start in a large workspace would collect several times
	cli.Main(program())
}
