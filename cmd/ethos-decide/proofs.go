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
	JSON bool `help:"As JSON, which ethos-trace prove reads."`
}

// Help implements kong.HelpProvider.
func (*proofsCmd) Help() string {
	return `The commands of which ethos-trace prove asks for a run that passed, by the files that need them: those of coding_ethos.yml, and of what a person trusted of it last. A change
of the file adds to that; it takes nothing away until a person has trusted it. When the file is gone, ethos-decide trust --revoke coding_ethos.yml forgets what it needed.`
}

// Run implements the command.
func (c *proofsCmd) Run(_ context.Context, sys *cli.System) error {
	d, err := facts.New(facts.Options{})
	if err != nil {
		return err
	}
	at, err := d.Place(record.Action{Kind: record.KindEvent, Cwd: sys.Dir})
	if err != nil {
		return err
	}
	set, err := newLibrary(policyFlags{}, sys).set(at.Workspace)
	if err != nil {
		return err
	}
	list := needs.List{Workspace: at.Workspace, Files: set.Proofs()}
	if c.JSON {
		return json.NewEncoder(sys.Records()).Encode(list)
	}
	if len(list.Files) == 0 {
		sys.Warn("no proofs are asked for", "`proofs:` in coding_ethos.yml names the commands that must have passed")
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
