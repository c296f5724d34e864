//go:build !nocel

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

type replayCmd struct {
	policyFlags
	Mode    string   `enum:",plan,safe,auto,verify" default:"" placeholder:"MODE" help:"Decide under this trust mode instead of the record's: plan, verify, safe or auto."`
	Trace   []string `arg:"" optional:"" name:"trace" help:"Files of decided records, one a line, or directories of them; - is standard input. Default: the store of the work space."`
	MaxLine int      `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
}

// replayed counts how recorded decisions changed.
type replayed struct{ same, looser, stricter, other, undecided, bad int }

func (c *replayCmd) Run(ctx context.Context, sys *cli.System) error {
	d, err := (&decideCmd{policyFlags: c.policyFlags, Mode: c.Mode}).decider(sys)
	if err != nil {
		return err
	}
	d.Recorded = true
	var n replayed
	if len(c.Trace) == 0 {
		dir, err := storeOf(sys, trace.WorkTree(sys.Dir))
		if err != nil {
			return &cli.Error{Status: cli.BadInput, Err: fmt.Errorf("replay: %w", err)}
		}
		if _, err := os.Stat(dir); err != nil {
			return cli.Errorf(cli.BadInput, "name files or directories of decided records", "replay: nothing is recorded yet: %s does not exist", dir)
		}
		c.Trace = []string{dir}
	}
	files, err := tracesOf(c.Trace)
	if err != nil {
		return err
	}
	for _, name := range files {
		if err := c.trace(ctx, sys, d, name, &n); err != nil {
			return err
		}
	}
	all, noun := n.same+n.stricter+n.looser+n.other+n.undecided+n.bad, "records"
	if all == 1 {
		noun = "record"
	}
	sys.Printf("%d %s: %d as before, %d stricter, %d looser, %d for other reasons, %d never decided, %d unreadable\n",
		all, noun, n.same, n.stricter, n.looser, n.other, n.undecided, n.bad)
	switch {
	case n.bad > 0:
		return cli.Exit(cli.BadInput)
	case n.stricter+n.looser+n.other > 0:
		return cli.Negative
	}
	return nil
}

func (c *replayCmd) trace(ctx context.Context, sys *cli.System, d *decide.Decider, name string, n *replayed) error {
	from := sys.Stdin
	if name == "-" {
		sys.Waits("records", "name files or directories of records instead of -")
	}
	if name != "-" {
		f, err := cli.Open(ctx, name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return cli.Errorf(cli.BadInput, "name files or directories of decided records, or none for the store of the work space", "replay: %w", err)
		}
		defer f.Close()
		from = f
	}
	in := record.NewReader(record.Interruptible(ctx, from), c.MaxLine)
	for {
		l, err := in.Next()
		var bad *record.BadLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && !errors.As(err, &bad): // it would recur
			return &cli.Error{Status: cli.BadInput, Err: fmt.Errorf("replay %s: %w", name, err)}
		case err != nil:
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

// tracesOf returns the files of records that names lead to. For a directory,
// such as a trace store, it returns the NDJSON files in it and below.
func tracesOf(names []string) (files []string, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
			files = append(files, name)
			continue
		}
		before := len(files)
		err := filepath.WalkDir(name, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && filepath.Ext(path) == ".ndjson" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, &cli.Error{Status: cli.BadInput, Err: fmt.Errorf("replay: %w", err)}
		}
		if len(files) == before {
			return nil, cli.Errorf(cli.BadInput, "name a store, such as .git/coding-ethos/traces, or files of decided records", "replay: %s has no .ndjson file", name)
		}
	}
	return files, nil
}

// replayOne decides a record again and prints it if the decision changed.
func replayOne(ctx context.Context, sys *cli.System, d *decide.Decider, l *record.Line, n *replayed) error {
	var before record.Decision
	if err := l.Decode("decision", &before); err != nil {
		n.undecided++
		return nil
	}
	after, err := d.Decide(ctx, l)
	if err != nil {
		return badPolicy(err)
	}
	if !n.count(before, after.Decision) {
		return nil
	}
	return sys.Printf("%s: %s -> %s\n    %s\n    was: %s\n    now: %s\n", l.ID(), before.Verdict, after.Decision.Verdict,
		inShort(after.Action), causes(before), causes(after.Decision))
}

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

// causes lists the reasons for a verdict on one line.
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
