//go:build !nocel

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"ethos/pkg/cli"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
)

type listCmd struct {
	policyFlags
	JSON bool `help:"One JSON object a line."`
}

// listed is a policy in the form of --json.
type listed struct {
	ID        string   `json:"id"`
	Pack      string   `json:"pack"`
	Effect    string   `json:"effect"`
	Principle string   `json:"principle"`
	On        []string `json:"on"`
	Modes     []string `json:"modes"`
	When      string   `json:"when"`
	Message   string   `json:"message"`
	Remedy    string   `json:"remedy"`
	Protected bool     `json:"protected"`
	File      string   `json:"file"`
	Line      int      `json:"line"`
}

func (c *listCmd) Run(_ context.Context, sys *cli.System) error {
	l := c.library(sys)
	set, err := l.Set(sys.Dir)
	if err != nil {
		return badPolicy(err)
	}
	if c.JSON {
		return listJSON(sys, set)
	}
	table := tabwriter.NewWriter(sys.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tPACK\tEFFECT\tPRINCIPLE\tSOURCE")
	for _, p := range set.Policies() {
		io.WriteString(table, printable.Sprintf("%s\t%s\t%s\t%s\t%s:%d\n", p.ID, p.Pack, p.Effect, p.Principle, p.File, p.Line))
	}
	limit, files, err := l.Ceiling()
	if err := errors.Join(err, table.Flush()); err != nil || limit == nil {
		return err
	}
	return sys.Print("\n" + ceilingText(limit, files))
}

func listJSON(sys *cli.System, set *policy.Set) error {
	out := json.NewEncoder(sys.Records())
	out.SetEscapeHTML(false)
	for _, p := range set.Policies() {
		message, remedy := p.Told()
		row := listed{p.ID, p.Pack, p.Effect, p.Principle, p.Kinds(), p.InModes(), p.When, message, remedy, p.Protected, p.File, p.Line}
		if err := out.Encode(row); err != nil {
			return err
		}
	}
	return nil
}
