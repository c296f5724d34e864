//go:build !nocel

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/printable"
	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
)

type proofsCmd struct {
	JSON bool `help:"Print JSON, as ethos-trace prove reads it."`
}

func (*proofsCmd) Help() string {
	return `Lists the commands for which ethos-trace prove wants a run that passed, with the files that need them. They come from coding_ethos.yml and from the version of it that a
person last trusted. A change of the file can add commands; it removes none until a person trusts it. If the file was deleted, ethos-decide trust --revoke coding_ethos.yml
drops its proofs.`
}

func (c *proofsCmd) Run(_ context.Context, sys *cli.System) error {
	d, err := facts.New(facts.Options{})
	if err != nil {
		return err
	}
	at, err := d.Place(record.Action{Kind: record.KindEvent, Cwd: sys.Dir})
	if err != nil {
		return err
	}
	set, err := policyFlags{}.library(sys).Set(at.Workspace)
	if err != nil {
		return badPolicy(err)
	}
	list := needs.List{Workspace: at.Workspace, Files: set.Proofs()}
	if c.JSON {
		return json.NewEncoder(sys.Records()).Encode(list)
	}
	if len(list.Files) == 0 {
		sys.Note("no proofs are required", "`proofs:` in coding_ethos.yml names the commands that must have passed")
		return nil
	}
	table := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PATHS\tNEED\tSOURCE")
	for _, f := range list.Files {
		for _, r := range f.Rules {
			commands := "nothing"
			if len(r.Needs) > 0 {
				commands = strings.Join(r.Needs, " and ")
			}
			io.WriteString(table, printable.Sprintf("%s\t%s\t%s\n", strings.Join(r.Paths, " "), commands, f.Name))
		}
	}
	return table.Flush()
}
