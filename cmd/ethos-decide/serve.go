//go:build !nocel

package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/session/cmdserver"
)

// serveCmd does what the plain form does, for callers of ethos-decide.
type serveCmd struct{}

func (*serveCmd) Run(ctx context.Context, sys *cli.System) error {
	return cmdserver.Command(ctx, sys, "ethos-decide", program)
}
