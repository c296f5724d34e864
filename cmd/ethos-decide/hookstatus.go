//go:build !nocel

package main

import (
	"context"
	"slices"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/cli"
	"ethos/pkg/hook/setup"
	"ethos/pkg/printable"
	"ethos/pkg/statedir"
)

type hookStatusCmd struct {
	Agent []string `arg:"" optional:"" help:"Only these agents."`
}

// Help implements kong.HelpProvider.
func (*hookStatusCmd) Help() string {
	return `Prints one line for each agent that is installed or set up: what the settings of the user and of this project say, and when its hook last asked. If an agent's
settings are fine and it never asked, it may not run the hook.

A hook is known to guard only if it is one that hook install writes. If one was changed, the line says how it differs, and what repairs it.

Status 1: an agent that is installed, or was named, is not guarded, or the settings of an agent cannot be read, or a hook in them is not known to guard.`
}

func (c *hookStatusCmd) Run(_ context.Context, sys *cli.System) error {
	for _, name := range c.Agent {
		if !slices.Contains(agent.Names(), name) {
			return cli.Errorf(cli.Usage, cli.Known(name, agent.Names()), "hook: unknown agent %q", name)
		}
	}
	unguarded := false
	for _, a := range setup.Agents() {
		named := slices.Contains(c.Agent, a.Name)
		if len(c.Agent) > 0 && !named {
			continue
		}
		_, missing := lookPath(sys, a.Program)
		guarded, doubtful, err := agentStatus(sys, a, missing != nil)
		if err != nil {
			return err
		}
		unguarded = unguarded || doubtful || !guarded && (named || missing == nil)
	}
	if unguarded {
		return cli.Negative
	}
	return nil
}

// agentStatus writes the line for an agent. It reports whether settings guard the agent, and whether
// some cannot be read, or were changed so that they may not guard: those may be the ones that count.
func agentStatus(sys *cli.System, a setup.Agent, missing bool) (guarded, doubtful bool, err error) {
	var said, seen []string
	for _, project := range []bool{false, true} {
		place, err := setup.Where(a.Name, project, settingsDirs(sys))
		if err != nil {
			return false, false, cli.Errorf(cli.Usage, "set HOME to your home directory", "hook: %w", err)
		}
		if project && slices.Equal(place.Paths(), seen) {
			continue // the home directory is the work tree
		}
		seen = place.Paths()
		s, err := place.State(ownPrograms())
		if err != nil {
			doubtful = true
			said = append(said, "cannot be read: "+err.Error())
			continue
		}
		if s.Asks {
			guarded = true
			said = append(said, inWords(s)+" by "+place.Paths()[0])
		}
		if s.Changed != "" {
			doubtful = true
			said = append(said, "not known to guard: "+s.Changed+": "+repair(place, project))
		}
		if s.Lacks != "" {
			said = append(said, s.Lacks+": "+repair(place, project))
		}
	}
	off, faults := setup.Off(a.Name, settingsDirs(sys))
	if off != "" && guarded {
		guarded, said = false, append([]string{"not guarded: " + off}, said...)
		for i, text := range said[1:] {
			if rest, ok := strings.CutPrefix(text, "guarded"); ok {
				said[i+1] = "the hook is set up" + rest
			}
		}
	}
	for _, fault := range faults {
		if text := "cannot be read: " + fault; !slices.Contains(said, text) {
			doubtful, said = true, append(said, text)
		}
	}
	if len(said) == 0 {
		said = []string{"not guarded"}
	}
	if missing {
		said = append(said, a.Program+" is not on the PATH")
	}
	asked := "never asked"
	if at, err := statedir.LastAsked(sys.Getenv, a.Name); err != nil {
		asked = "asked: " + err.Error()
	} else if !at.IsZero() {
		asked = "asked last " + at.Format("2006-01-02 15:04:05 -0700")
	}
	return guarded, doubtful, sys.Printf("%-9s %s\n", a.Name, printable.Line(strings.Join(append(said, asked), "; ")))
}

// repair says how a person gets the hook that is known to guard: by a new installation, unless that
// needs something of them first.
func repair(place setup.Place, project bool) string {
	command := "ethos-decide hook install " + place.Agent.Name
	if project {
		command += " --project"
	}
	if _, err := place.Install(setup.Options{}); err != nil {
		return err.Error() + "; then " + command + " writes a new one"
	}
	return command + " repairs it"
}

func inWords(s setup.State) string {
	words := "guarded"
	if s.Confines {
		words += ", confined"
	} else {
		words += ", not confined"
	}
	if s.Records {
		return words + ", recorded"
	}
	return words + ", not recorded"
}
