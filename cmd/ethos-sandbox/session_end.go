package main

import (
	"context"
	"errors"
	"slices"

	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/session"
)

type sessionEndCmd struct {
	Name string `arg:"" optional:"" help:"The session."`
	All  bool   `help:"All sessions."`
	From string `placeholder:"AGENT" help:"Read this agent's end-of-session event on standard input, and end the sessions that ethos-decide --session auto named for it."`
}

// Run ends sessions, and returns when nothing of them is left.
func (c *sessionEndCmd) Run(_ context.Context, sys *cli.System) error {
	switch {
	case c.All && c.Name == "" && c.From == "":
		return endSessions(sys, func(string) bool { return true })
	case c.From != "" && c.Name == "" && !c.All:
		return c.endOfAgent(sys)
	case c.All || c.Name == "" || c.From != "":
		return cli.Errorf(cli.Usage, "ethos-sandbox session end NAME, or session end --all", "give exactly one of a session, --all and --from")
	}
	client, err := session.Open(sys.Getenv).Dial(c.Name)
	if errors.Is(err, session.ErrNone) {
		return cli.Errorf(cli.Refused, toEnd(sys), "%s", notRunning(sys, "session "+c.Name, c.Name))
	}
	if err != nil {
		err = cli.Errorf(cli.Refused, "", "%w", err)
	}
	return endSession(sys, client, err)
}

// toEnd returns the hint for a session that cannot be ended because it is not running.
func toEnd(sys *cli.System) string {
	if names, err := session.Open(sys.Getenv).Names(); err != nil || len(names) == 0 {
		return "no session is running: there is nothing to end"
	}
	return running(sys)
}

// endOfAgent ends the ethos sessions of an agent's session that has ended, if
// there are any.
func (c *sessionEndCmd) endOfAgent(sys *cli.System) error {
	const hint = "use it in the agent's hook for the end of a session: docs/agents.md"
	if !slices.Contains(hook.Dialects(), c.From) {
		return cli.Errorf(cli.Usage, cli.Known(c.From, hook.Dialects()), "--from: unknown agent %q", c.From)
	}
	text, err := hook.NewDocuments(sys.Stdin).Next()
	if err != nil {
		return cli.Errorf(cli.BadInput, hint, "read the event: %w", err)
	}
	event, err := hook.Decode(c.From, text, sys.Dir)
	if err != nil {
		return cli.Errorf(cli.BadInput, hint, "read the event: %w", err)
	}
	if !hook.EndsSession(event) {
		return cli.Errorf(cli.BadInput, hint, "the event %s of %s ends no session", printable.Line(event.Actor.Event), c.From)
	}
	if event.Actor.Session == "" {
		return cli.Errorf(cli.BadInput, hint, "the event %s names no session", printable.Line(event.Actor.Event))
	}
	return endSessions(sys, func(name string) bool { return hook.OwnSession(&event.Actor, name) })
}

func endSessions(sys *cli.System, ends func(name string) bool) error {
	registry := session.Open(sys.Getenv)
	names, err := registry.Names()
	if err != nil {
		return cli.Errorf(cli.Refused, "", "%w", err)
	}
	var faults []error
	for _, name := range names {
		if !ends(name) {
			continue
		}
		client, err := registry.Dial(name)
		if err = endSession(sys, client, err); err != nil && !errors.Is(err, session.ErrNone) {
			faults = append(faults, err)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return cli.Errorf(cli.Refused, "", "%w", err)
	}
	return nil
}

// endSession ends the session of a client, or the one that err says cannot have
// a client.
func endSession(sys *cli.System, client *session.Client, err error) error {
	var other *session.OtherRelease
	switch {
	case errors.As(err, &other):
		err = other.End()
	case err != nil:
		return err
	default:
		defer client.Close()
		var denials []record.Denial
		denials, err = client.End()
		warn(sys, denials)
	}
	if err != nil {
		return cli.Errorf(cli.Refused, "kill -9 of its supervisor also ends it", "%w", err)
	}
	return nil
}
