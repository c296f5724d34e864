package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/session/cmdserver"
)

// serveCmd does what the program does, for its callers.
type serveCmd struct{}

func (*serveCmd) Run(ctx context.Context, sys *cli.System) error {
	return cmdserver.Command(ctx, sys, "ethos-facts", program)
}
