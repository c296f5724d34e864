package main

import (
	"fmt"
	"slices"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/cli"
	"ethos/pkg/nearest"
	"ethos/pkg/trace"
)

// unseen is a name that a flag asks for, until a record has it. Any name may be in a store: an older
// release, another policy file or another catalog wrote it.
type unseen struct {
	flag, word string
	of         func(*trace.Entry) []string
	known      []string        // names that may be asked for although no record has them
	others     map[string]bool // that records have
}

// maxOthers limits the names that are kept in order to propose one.
const maxOthers = 4096

func (c *lsCmd) asksFor() (list []*unseen) {
	for _, u := range []unseen{
		{flag: "--agent", word: c.Agent, known: agent.Names(), of: func(e *trace.Entry) []string { return []string{e.Actor.Agent} }},
		{flag: "--tool", word: c.Tool, of: func(e *trace.Entry) []string { return []string{e.Tool(), e.CommandName()} }},
		{flag: "--policy", word: c.Policy, of: (*trace.Entry).Reasons},
	} {
		if u.word != "" && !slices.Contains(u.known, u.word) {
			u.others = map[string]bool{}
			list = append(list, &u)
		}
	}
	return list
}

// note looks at a record, whether or not it is listed.
func (c *lsCmd) note(e *trace.Entry) {
	for i, u := range c.unseen {
		names := u.of(e)
		if slices.Contains(names, u.word) {
			c.unseen = slices.Delete(slices.Clone(c.unseen), i, i+1)
			c.note(e) // the others
			return
		}
		for _, name := range names {
			if name != "" && len(u.others) < maxOthers {
				u.others[name] = true
			}
		}
	}
}

// noneHas says which names no record has. The agents are a closed set: another one is an error.
func (c *lsCmd) noneHas(sys *cli.System) error {
	for _, u := range c.unseen {
		names := slices.Clone(u.known)
		for name := range u.others {
			names = append(names, name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		hint := "no record has any"
		if near := nearest.Name(u.word, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		} else if len(names) > 0 {
			hint = "the nearest names are " + strings.Join(nearest.Sort(u.word, names)[:min(len(names), 5)], ", ")
		}
		if u.flag == "--agent" {
			return cli.Errorf(cli.Usage, hint, "--agent: unknown agent %q", u.word)
		}
		sys.Warn(fmt.Sprintf("%s: no record has the name %q", u.flag, u.word), hint)
	}
	return nil
}
