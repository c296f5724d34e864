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

// Run tests the controls and reports each; the status is 4 if the default profile cannot be
// enforced.
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

// insideCmd is the confined process that probe starts.
type insideCmd struct {
	Mission string `arg:""`
}

func (c *insideCmd) Run(sys *cli.System) error { return probe.Inside(c.Mission, sys.Stdout) }
