//go:build !nocel

package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

type checkCmd struct {
	Coverage bool     `help:"List policies without examples, and parts of expressions that no example makes true, or none makes false."`
	Everyday []string `placeholder:"FILE" type:"path" sep:"none" help:"Also decide a list of commands, one a line, that core must allow in mode safe."`
	Harmful  []string `placeholder:"FILE" type:"path" sep:"none" help:"Also decide a list of commands that must be refused, each under a line ## PACK MODE POLICY."`
	Pack     []string `placeholder:"NAME" sep:"none" help:"Load a shipped pack in addition to core, for policies that amend it."`
	File     []string `arg:"" optional:"" type:"path" name:"file|dir" help:"Policy files. Default: the shipped packs and coding_ethos.yml of the work space."`
}

func (c *checkCmd) Run(ctx context.Context, sys *cli.System) error {
	if len(c.File) == 0 {
		tellAllPutAside(ctx, sys)
	}
	sets, err := c.sets(sys)
	if err != nil {
		return err
	}
	b, err := decide.NewBench()
	if err != nil {
		return err
	}
	defer b.Close()
	var total policy.Report
	for _, set := range sets {
		report, err := set.Check(ctx, b.Facts)
		if err != nil {
			return badPolicy(decide.ErrorOf(err))
		}
		total.Add(report)
	}
	for _, wrong := range total.Wrong {
		sys.Print(fmt.Sprintln(wrong))
	}
	if c.Coverage {
		for _, missing := range slices.Concat(total.Bare, total.Coverage.Missing) {
			sys.Print(fmt.Sprintln(missing))
		}
	}
	sys.Printf("%d policies, %d examples, %d wrong; %d of %d policies have refused and allowed examples; %d of %d parts of expressions seen true and false\n",
		total.Policies, total.Examples, len(total.Wrong), total.Policies-len(total.Bare), total.Policies, total.Coverage.Both, total.Coverage.Parts)
	wrong, err := c.corpora(ctx, sys, b)
	if err != nil {
		return err
	}
	if len(total.Wrong)+wrong > 0 {
		return cli.Negative
	}
	return nil
}

// sets returns what is checked: the text of the shipped packs, unless files are named, and the
// consumer's policies over the shipped ones.
func (c *checkCmd) sets(sys *cli.System) ([]*policy.Set, error) {
	o := policyFlags{Policy: c.File, Pack: c.Pack}.options()
	o.Unproven = true
	for _, name := range c.File {
		if _, err := os.Stat(name); err != nil {
			return nil, cli.Errorf(cli.BadInput, "name policy files that exist, or directories of them: ethos-decide check FILE", "read policies: %w", err)
		}
	}
	library := decide.NewLibrary(o, trust.New(sys.Getenv))
	consumer, err := library.Set(sys.Dir)
	for _, w := range library.Warnings(record.Decision{}) {
		sys.Warn(w, "")
	}
	if err != nil {
		return nil, badPolicy(err)
	}
	if len(c.File) > 0 {
		return []*policy.Set{consumer}, nil
	}
	shipped, err := policy.LoadShipped()
	if err != nil {
		return nil, err
	}
	return []*policy.Set{shipped, consumer}, nil
}
