package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/trust"
)

type trustCmd struct{}

func (*trustCmd) Run(_ context.Context, sys *cli.System) error {
	if trust.Inside() {
		return cli.Errorf(cli.Refused, "a person must run it outside of ethos-sandbox", "trust: a confined command cannot trust anything")
	}
	g, err := newGuard(sys)
	if err != nil {
		return err
	}
	added, err := g.Trust(sys.Dir, sys.Getenv)
	if err != nil {
		return cli.Errorf(cli.Refused, "run it in the work tree of the repository, outside of any sandbox", "trust: %w", err)
	}
	if len(added) == 0 {
		sys.Note("there is nothing new to trust: no hook, and no program that the configuration names", "")
	}
	for _, entry := range added {
		if err := sys.Printf("%s\n", entry); err != nil {
			return err
		}
	}
	return nil
}
