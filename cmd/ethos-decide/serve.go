//go:build !nocel

package main

import (
	"context"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/session/cmdserver"
)

// serveCmd does what the plain form does, for callers of ethos-decide.
type serveCmd struct{}

// Run implements the command.
func (*serveCmd) Run(ctx context.Context, sys *cli.System) error {
	return cmdserver.Command(ctx, sys, cmdserver.Program{Name: "ethos-decide", Run: func(ctx context.Context, sys *cli.System, args []string) cli.Status {
		ceiling.Forget()
		return program(args).Run(ctx, sys, args)
	}})
}
