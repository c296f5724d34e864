package main

import (
	"context"
	"encoding/json"
	"strings"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
)

type ceilingCmd struct {
	JSON bool `help:"As JSON, which ethos-sandbox reads; null where there is none."`
}

// Help implements kong.HelpProvider.
func (*ceilingCmd) Help() string {
	return `What the administrator of this machine allows at most, in /etc/ethos: ceiling.yaml bounds the capabilities of every command, says which controls are required
and whether each call has to be recorded; policy.d/*.yml are policies that no other file weakens and no approval lifts. All of it has to be root's.

Status 3: something there cannot be read, or others can write it. Then nothing runs.`
}

// Run implements the command.
func (c *ceilingCmd) Run(_ context.Context, sys *cli.System) error {
	l := newLibrary(policyFlags{}, sys)
	if err := l.administrator(); err != nil {
		return cli.Errorf(cli.BadInput, "the administrator mends it, as root", "%w", err)
	}
	if c.JSON {
		l.origin()
		return json.NewEncoder(sys.Records()).Encode(l.limit)
	}
	if l.limit == nil {
		return sys.Printf("there is no %s: nothing bounds what a person allows here\n", ceiling.Dir)
	}
	return sys.Print(ceilingText(l))
}

// origin records which bundle the ceiling came from.
func (l *library) origin() {
	if l.limit != nil {
		l.limit.Bundle = ceiling.Origin(l.files)
	}
}

// ceilingText returns the ceiling for people.
func ceilingText(l *library) string {
	l.origin()
	return limitText(l.limit, l.given)
}

// limitText returns a ceiling and its policies for people.
func limitText(c *ceiling.Ceiling, given []policy.Source) string {
	var b strings.Builder
	b.WriteString(printable.Sprintf("%s  %s\n", ceiling.Dir, c.Digest))
	for _, line := range c.Lines() {
		b.WriteString(printable.Sprintf("  %s\n", line))
	}
	for _, s := range given {
		if s.Ceiling {
			b.WriteString(printable.Sprintf("  policies %s\n", s.Name))
		}
	}
	return b.String()
}
