package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

type planCmd struct {
	boundary.Flags
	backendFlags
	Fd         []int    `placeholder:"N" help:"Pass an inherited descriptor above 2 on to the command."`
	JSON       bool     `name:"json" help:"As JSON."`
	SeccompAsm bool     `help:"Show the seccomp program instead."`
	Argv       cli.Argv `arg:"" optional:"" passthrough:"" name:"argv" help:"The command. Default: a shell if flags are given, else the records on standard input."`
}

// Run prints the plan of the command, or of each record on standard input.
func (c *planCmd) Run(_ context.Context, sys *cli.System) error {
	words, err := behindDashes(c.Argv, cli.Usage)
	if err != nil {
		return err
	}
	if len(words) == 0 && !c.Flags.None() {
		words = []string{"sh"}
	}
	if len(words) > 0 {
		spec, err := specOfFlags(sys, &c.Flags, words)
		if err != nil {
			return cli.Errorf(cli.Usage, "ethos-sandbox plan --help shows the flags", "%w", err)
		}
		spec.Descriptors, spec.Backend = c.Fd, c.Backend
		plan, err := build(sys, spec, cli.BadInput)
		if err != nil {
			return err
		}
		return c.print(sys, plan)
	}
	return c.records(sys)
}

func (c *planCmd) records(sys *cli.System) error {
	sys.Waits("records", "ethos-facts -- COMMAND | ethos-decide | ethos-sandbox plan, or ethos-sandbox plan -- COMMAND")
	in := record.NewReader(sys.Stdin, 0)
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cli.Errorf(cli.BadInput, "give it decided records, or a command after --", "%w", in.Located(err))
		}
		if line.Kind() != record.LineAction {
			continue
		}
		spec, err := specOf(line, sys.Environ)
		if err != nil {
			return cli.Errorf(cli.BadInput, "run it through ethos-facts, which adds what is missing", "line %d: %w", in.LineNumber(), err)
		}
		plan, err := build(sys, spec, cli.BadInput)
		if err != nil {
			return err
		}
		if err := c.print(sys, plan); err != nil {
			return err
		}
	}
}

func (c *planCmd) print(sys *cli.System, plan *sandbox.Plan) error {
	switch {
	case c.SeccompAsm:
		text, err := sandbox.SeccompText(plan)
		if err != nil {
			return refused(err, cli.CannotEnforce)
		}
		return sys.Print(text)
	case plan.Backend == sandbox.Seatbelt && !c.JSON:
		text, err := sandbox.SeatbeltProfile(plan)
		if err != nil {
			return refused(err, cli.CannotEnforce)
		}
		return sys.Print(seatbeltHeader + text)
	case c.JSON:
		enc := json.NewEncoder(sys.Records())
		enc.SetIndent("", "  ")
		return enc.Encode(plan)
	}
	return sys.Print(plan.Text())
}

func specOf(line *record.Line, environ []string) (sandbox.Spec, error) {
	var action record.Action
	if err := line.Decode("action", &action); err != nil {
		return sandbox.Spec{}, err
	}
	var facts record.Facts
	if err := line.Decode("facts", &facts); err != nil {
		return sandbox.Spec{}, fmt.Errorf("facts: %w", err)
	}
	var actor record.Actor
	if err := line.Decode("actor", &actor); err != nil {
		return sandbox.Spec{}, err
	}
	if mode := actor.Mode; mode == record.ModePlan || mode == record.ModeVerify { // ethos-decide --mode changes it after the facts
		facts.Capabilities.View = capability.CopyOnWrite
	}
	return sandbox.FromRecord(action, facts.Capabilities, environ)
}
