package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/trace"
	"ethos/pkg/trace/report"
)

type pruneCmd struct {
	storeFlag
	OlderThan string `required:"" placeholder:"AGE" help:"Remove whole days that ended longer ago than this: 30d, 12w, 720h."`
	DryRun    bool   `help:"Show what would be removed; remove nothing."`
}

// Run removes old days.
func (c *pruneCmd) Run(_ context.Context, sys *cli.System) error {
	age, err := duration(c.OlderThan)
	if err != nil {
		return cli.Errorf(cli.Usage, "write 30d, 12w or 720h", "not a duration: %q", c.OlderThan)
	}
	dir := c.dir(sys)
	if _, err := c.open(sys); c.nothingYet(sys, err) {
		return nil
	} else if err != nil {
		return err
	}
	s, err := trace.Open(sys.Getenv, dir)
	if err != nil {
		return cli.Errorf(cli.BadInput, "name another store with --store", "%w", err)
	}
	defer s.Close()
	s.Now = sys.Now
	before, verb := sys.Now().Add(-age), "removed"
	remove := s.Prune
	if c.DryRun {
		remove, verb = s.Prunable, "would remove"
	}
	p, err := remove(before)
	if err != nil {
		return err
	}
	for _, f := range p.Files {
		sys.Printf("%s\n", f)
	}
	return sys.Printf("%s %s with %s\n", verb, report.Count(len(p.Files), "day"), report.Count(p.Lines, "line"))
}
