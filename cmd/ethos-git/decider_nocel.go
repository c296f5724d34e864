//go:build nocel

package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/gitguard"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// decider returns a Decider that evaluates the shipped policies in this process.
// ethos-decide starts where CEL is needed, or where anything fails. The mode is
// the record's.
func decider(sys *cli.System, sibling gitguard.Sibling) gitguard.Decider {
	d := decide.New(decide.NewLibrary(decide.Options{Version: cli.Version}, trust.New(sys.Getenv)), nil, sys.Now)
	return gitguard.Within{
		Judge: func(ctx context.Context, line *record.Line) error {
			d.Remember()
			_, err := d.Decide(ctx, line)
			return err
		},
		Else: sibling,
	}
}
