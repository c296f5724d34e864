//go:build !nocel

package main

import (
	"context"
	"encoding/json"
	"strings"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
)

type ceilingCmd struct {
	JSON bool `help:"Print JSON, as ethos-sandbox reads it; null if there is no ceiling."`
}

// Help implements kong.HelpProvider.
func (*ceilingCmd) Help() string {
	return `The administrator's limits are in /etc/ethos: ceiling.yaml bounds the capabilities of every command and sets which controls are required and whether each call
must be recorded; policy.d/*.yml are policies that no other file weakens and no approval overrides. All of these files must belong to root.

Status 3: a file there cannot be read, or others than root can write it. Then nothing runs.`
}

func (c *ceilingCmd) Run(_ context.Context, sys *cli.System) error {
	limit, files, err := policyFlags{}.library(sys).Ceiling()
	if err != nil {
		return cli.Errorf(cli.BadInput, "ask the administrator to fix it, as root", "%w", err)
	}
	if limit == nil && !c.JSON {
		return sys.Printf("there is no %s: this machine has no limits by an administrator\n", ceiling.Dir)
	}
	if c.JSON {
		return json.NewEncoder(sys.Records()).Encode(withOrigin(limit, files))
	}
	return sys.Print(ceilingText(limit, files))
}

// withOrigin returns a ceiling that says which bundle it came from.
func withOrigin(limit *ceiling.Ceiling, files []ceiling.File) *ceiling.Ceiling {
	if limit != nil {
		limit.Bundle = ceiling.Origin(files)
	}
	return limit
}

func ceilingText(limit *ceiling.Ceiling, files []ceiling.File) string {
	return limitText(withOrigin(limit, files), decide.Administrators(files))
}

func limitText(c *ceiling.Ceiling, given []policy.Source) string {
	var b strings.Builder
	b.WriteString(printable.Sprintf("%s  %s\n", ceiling.Dir, c.Digest))
	for _, line := range c.Lines() {
		b.WriteString(printable.Sprintf("  %s\n", line))
	}
	for _, s := range given {
		b.WriteString(printable.Sprintf("  policies %s\n", s.Name))
	}
	return b.String()
}
