package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trace/report"
	"ethos/pkg/trace/tooloutput"
)

type showCmd struct {
	storeFlag
	ID   string `arg:"" help:"The record's id, or the start or end of it when only one record has it."`
	JSON bool   `name:"json" help:"Print the stored line unchanged."`
}

func (c *showCmd) Run(ctx context.Context, sys *cli.System) error {
	s, err := c.open(sys)
	if err != nil {
		return err
	}
	defer s.Close()
	text, err := c.find(ctx, s)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err := fmt.Fprintln(sys.Records(), text)
		return err
	}
	l, err := record.ParseLine([]byte(text))
	if err != nil {
		return cli.Errorf(cli.BadInput, "ethos-trace verify shows what was changed", "record %s: %w", c.ID, err)
	}
	if l.Kind() != record.LineAction {
		return sys.Printf("%s\n", text)
	}
	e, err := trace.NewEntry(l, sys.Now())
	if err != nil {
		return err
	}
	tooloutput.Fill(e)
	return report.Detail(sys.Stdout, report.DetectTerminal(sys.Stdout, sys.Getenv), e)
}

// find returns the last stored line with the id. An action that was traced twice is in the store
// twice.
func (c *showCmd) find(ctx context.Context, s *trace.Store) (string, error) {
	found := map[string]string{}
	err := s.Walk(timeZero, func(l trace.Stored) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !bytes.Contains(l.Text, []byte(c.ID)) {
			return nil
		}
		line, err := record.ParseLine(l.Text)
		if err == nil && (strings.HasPrefix(line.ID(), c.ID) || strings.HasSuffix(line.ID(), c.ID)) {
			found[line.ID()] = string(l.Text)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if text, ok := found[c.ID]; ok {
		return text, nil
	}
	switch len(found) {
	case 0:
		return "", cli.Errorf(cli.NegativeStatus, "ethos-trace ls lists the records", "no record with id %q in %s", c.ID, s.Dir())
	case 1:
		for _, text := range found {
			return text, nil
		}
	}
	return "", cli.Errorf(cli.NegativeStatus, "give more of the id", "%d records match the id %q", len(found), c.ID)
}
