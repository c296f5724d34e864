package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

type replayCmd struct {
	policyFlags
	Mode    string   `enum:",plan,safe,auto,verify" default:"" placeholder:"MODE" help:"Decide under this trust mode instead of the record's: plan, verify, safe or auto."`
	Trace   []string `arg:"" name:"trace" help:"Files of decided records, one a line; - is standard input."`
	MaxLine int      `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
}

// replayed counts what happened to recorded decisions.
type replayed struct{ same, looser, stricter, other, undecided, bad int }

// Run implements the command.
func (c *replayCmd) Run(ctx context.Context, sys *cli.System) error {
	d, err := (&decideCmd{policyFlags: c.policyFlags, Mode: c.Mode}).decider(sys)
	if err != nil {
		return err
	}
	d.recorded = true
	var n replayed
	for _, name := range c.Trace {
		if err := c.trace(ctx, sys, d, name, &n); err != nil {
			return err
		}
	}
	sys.Printf("%d records: %d as before, %d stricter, %d looser, %d for other reasons, %d never decided, %d unreadable\n",
		n.same+n.stricter+n.looser+n.other+n.undecided+n.bad, n.same, n.stricter, n.looser, n.other, n.undecided, n.bad)
	switch {
	case n.bad > 0:
		return cli.Exit(cli.BadInput)
	case n.stricter+n.looser+n.other > 0:
		return cli.Negative
	}
	return nil
}

func (c *replayCmd) trace(ctx context.Context, sys *cli.System, d *decider, name string, n *replayed) error {
	from := sys.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return &cli.Error{Status: cli.BadInput, Err: fmt.Errorf("replay: %w", err)}
		}
		defer f.Close()
		from = f
	}
	in := record.NewReader(from, c.MaxLine)
	for {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			n.bad++
			sys.Warn(fmt.Sprintf("%s:%d: %v", name, in.LineNumber(), err), "")
			continue
		}
		if l.Kind() == record.LineAction {
			if err := replayOne(ctx, sys, d, l, n); err != nil {
				return err
			}
		}
	}
}

// replayOne decides a record again and prints it when something changes.
func replayOne(ctx context.Context, sys *cli.System, d *decider, l *record.Line, n *replayed) error {
	var before record.Decision
	if err := l.Decode("decision", &before); err != nil {
		n.undecided++
		return nil
	}
	after, err := d.decide(ctx, l)
	if err != nil {
		return err
	}
	if !n.count(before, after.decision) {
		return nil
	}
	return sys.Printf("%s: %s -> %s\n    %s\n    was: %s\n    now: %s\n", l.ID(), before.Verdict, after.decision.Verdict,
		inShort(after.action), causes(before), causes(after.decision))
}

// count reports whether the decision changed.
func (n *replayed) count(before, after record.Decision) bool {
	switch was, is := before.Verdict, after.Verdict; {
	case was == is && causes(before) == causes(after):
		n.same++
		return false
	case was == is:
		n.other++
	case policy.Stricter(is, was):
		n.stricter++
	default:
		n.looser++
	}
	return true
}

// causes lists what brought a verdict about, in one line.
func causes(d record.Decision) string {
	var ids []string
	for _, m := range d.Matches {
		ids = append(ids, m.ID)
	}
	for _, e := range d.Errors {
		ids = append(ids, strings.TrimPrefix(e.ID+" "+e.Code, " "))
	}
	if len(ids) == 0 {
		return "no policy matched"
	}
	slices.Sort(ids)
	return strings.Join(ids, ", ")
}

// inShort is an action in one line.
func inShort(a record.Action) string {
	var text string
	switch a.Kind {
	case record.KindExec:
		text = strings.Join(a.Argv, " ")
	case record.KindShell:
		text = a.Script
	case record.KindFile:
		text = a.File.Op + " " + a.File.Path
	case record.KindFetch:
		text = a.URL
	case record.KindMCP:
		text = a.Server + "/" + a.Name
	}
	if runes := []rune(text); len(runes) > 120 {
		text = string(runes[:119]) + "…"
	}
	return fmt.Sprintf("%s %q", a.Kind, text)
}
