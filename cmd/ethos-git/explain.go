package main

import (
	"context"
	"errors"

	"ethos/pkg/cli"
	"ethos/pkg/gitguard"
)

type explainCmd struct {
	JSON bool     `name:"json" help:"Print the record, with facts and decision, instead."`
	Argv cli.Argv `arg:"" passthrough:"" name:"argv" help:"Git's arguments, without git."`
}

// Run implements the command. Its status is the one with which the git command would be refused, or
// 0.
func (c *explainCmd) Run(ctx context.Context, sys *cli.System) error {
	g, err := newGuard(sys)
	if err != nil {
		return err
	}
	e, err := g.Explain(ctx, gitguard.Call{Name: "git", Args: c.Argv.Words(), Dir: sys.Dir, Environ: sys.Environ})
	if refusal := (*gitguard.Refusal)(nil); errors.As(err, &refusal) {
		return cli.Errorf(cli.Status(refusal.Status), refusal.Hint, "%w", err)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = sys.Records().Write(e.Line.AppendTo(nil))
	} else {
		err = e.WriteText(sys.Stdout)
	}
	if err == nil && !e.Runs() {
		err = cli.Exit(cli.Refused)
	}
	return err
}
