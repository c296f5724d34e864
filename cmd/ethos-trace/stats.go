package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/report"
	"ethos/pkg/trace/tooloutput"
)

type statsCmd struct {
	storeFlag
	Files []string `arg:"" optional:"" name:"file" help:"Files of records instead of the store; - is standard input."`
	Since string   `placeholder:"WHEN" help:"Only days since then: 24h, 7d, 2026-11-21."`
	JSON  bool     `name:"json" help:"As JSON."`
}

func (c *statsCmd) Run(ctx context.Context, sys *cli.System) error {
	collectLess(sys)
	counter := trace.NewCounter(sys.Now(), tooloutput.Fill)
	err := c.count(ctx, sys, counter)
	stats := counter.Close()
	switch {
	case err != nil:
		return err
	case c.JSON:
		return printJSON(sys, stats)
	}
	return report.Stats(sys.Stdout, report.DetectTerminal(sys.Stdout, sys.Getenv), stats)
}

func (c *statsCmd) count(ctx context.Context, sys *cli.System, counter *trace.Counter) error {
	if len(c.Files) > 0 {
		return c.countFiles(ctx, sys, counter)
	}
	since, err := when(c.Since, sys.Now())
	if err != nil {
		return err
	}
	s, err := c.open(sys)
	if c.nothingYet(sys, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	amended, err := s.Amended(since)
	if err != nil {
		return err
	}
	return s.Walk(since, func(l trace.Stored) error {
		if !l.Torn && !trace.Stale(l.Text, amended) {
			counter.Add(l.Text)
		}
		return ctx.Err()
	})
}

func (c *statsCmd) countFiles(ctx context.Context, sys *cli.System, counter *trace.Counter) error {
	var calls trace.Held[[]byte]
	for _, name := range c.Files {
		if err := countFile(ctx, sys, name, counter, &calls); err != nil {
			return err
		}
	}
	for _, text := range calls.Rest() {
		counter.Add(text)
	}
	return nil
}

func countFile(ctx context.Context, sys *cli.System, name string, counter *trace.Counter, calls *trace.Held[[]byte]) error {
	if name == "-" {
		return countLines(record.NewReader(record.Interruptible(ctx, sys.Stdin), 0), counter, calls)
	}
	f, err := cli.Open(ctx, absolute(sys.Dir, name))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return cli.Errorf(cli.BadInput, "name files of records (NDJSON)", "open records: %w", err)
	}
	defer f.Close()
	return countLines(record.NewReader(record.Interruptible(ctx, f), 0), counter, calls)
}

func countLines(r *record.Reader, counter *trace.Counter, calls *trace.Held[[]byte]) error {
	for {
		text, err := r.NextText()
		var long *record.BadLine
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &long):
			text = nil // counts as a line that is not a record
		case err != nil:
			return fmt.Errorf("read records: %w", err)
		}
		if !trace.HoldText(calls, text) {
			counter.Add(text)
		}
	}
}
