//go:build !nocel

package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

type explainCmd struct {
	policyFlags
	Mode    string   `enum:",plan,safe,auto,verify" default:"" placeholder:"MODE" help:"Decide under this trust mode instead of the record's: plan, verify, safe or auto."`
	All     bool     `help:"Also show the policies that could not match the record."`
	IDs     []string `arg:"" optional:"" name:"id" help:"Policies to explain. Default: all."`
	MaxLine int      `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
}

func (c *explainCmd) Run(ctx context.Context, sys *cli.System) error {
	d, err := (&decideCmd{policyFlags: c.policyFlags, Mode: c.Mode}).decider(sys)
	if err != nil {
		return err
	}
	sys.Waits("records", "ethos-facts -- COMMAND | ethos-decide explain")
	in := record.NewReader(sys.Stdin, c.MaxLine)
	for seen := 0; ; seen++ {
		l, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && seen == 0:
			return cli.Errorf(cli.BadInput, "ethos-facts -c 'rm -rf /' | ethos-decide explain", "standard input has no record")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &cli.Error{Status: cli.BadInput, Err: in.Located(err)}
		}
		if l.Kind() != record.LineAction {
			continue
		}
		if err := c.explain(ctx, sys, d, l); err != nil {
			return err
		}
	}
}

func (c *explainCmd) explain(ctx context.Context, sys *cli.System, d *decide.Decider, l *record.Line) error {
	in, set, err := d.Input(l)
	if err != nil {
		bad := &cli.Error{Status: cli.BadInput, Err: err}
		errors.As(badPolicy(err), &bad)
		return bad
	}
	explained, err := set.Explain(ctx, in, c.IDs...)
	if err != nil {
		return &cli.Error{Status: cli.BadInput, Err: err, Hint: "ethos-decide list shows the policies; ethos-facts makes records"}
	}
	decision := set.Decide(ctx, in)
	out := &page{}
	out.addf("%s: %s, %d policies on %s in mode %s\n", l.ID(), decision.Verdict, decision.Policy.Evaluated, in.Action.Kind, in.Actor.Mode)
	hidden := 0
	for _, e := range explained {
		if !c.All && len(c.IDs) == 0 && (!e.Asked || e.Skipped) {
			hidden++
			continue
		}
		write(out, e)
	}
	if hidden > 0 {
		out.addf("\n%d more policies could not match; --all shows them\n", hidden)
	}
	return sys.Print(out.String())
}

// page is text for people.
type page struct{ strings.Builder }

func (p *page) addf(format string, args ...any) { p.WriteString(printable.Sprintf(format, args...)) }

func write(out *page, e policy.Explanation) {
	out.addf("\n%s (%s, %s:%d): %s\n", e.Policy.ID, e.Policy.Effect, e.Policy.File, e.Policy.Line, judgement(e))
	for _, part := range e.Parts {
		out.addf("    %s\n        = %s\n", strings.ReplaceAll(part.Text, "\n", " "), part.Value)
	}
	if len(e.Read) > 0 {
		out.addf("    read:\n")
		for _, fact := range e.Read {
			out.addf("        %s = %s\n", fact.Text, fact.Value)
		}
	}
}

func judgement(e policy.Explanation) string {
	switch {
	case !e.Asked:
		return "not evaluated: it does not apply to this kind of action or mode"
	case e.Code != "":
		return e.Code + ": " + e.Message
	case e.Matched:
		return "matches"
	}
	return "does not match"
}
