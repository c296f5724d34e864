package main

import (
	"context"
	"encoding/json"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox/probe"
)

type probeCmd struct {
	JSON bool `name:"json" help:"As JSON."`
}

// Run tries the controls and reports each; status 4 when the default profile cannot be enforced.
func (c *probeCmd) Run(ctx context.Context, sys *cli.System) error {
	report := probe.Run(ctx)
	if err := c.print(sys, report); err != nil {
		return err
	}
	if !report.OK {
		return cli.Exit(cli.CannotEnforce)
	}
	return nil
}

func (c *probeCmd) print(sys *cli.System, report probe.Report) error {
	if c.JSON {
		enc := json.NewEncoder(sys.Records())
		enc.SetIndent("", "  ")
		return enc.Encode(report)
	}
	return sys.Print(report.Text())
}

// insideCmd is started by probe, confined.
type insideCmd struct {
	Mission string `arg:""`
}

// Run tries what the mission says.
func (c *insideCmd) Run(sys *cli.System) error { return probe.Inside(c.Mission, sys.Stdout) }
