package main

import (
	"errors"
	"io/fs"

	"ethos/pkg/cli"
	"ethos/pkg/hook"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

// after answers an event that follows a call: for a failed confined call, with
// what the boundary refused; else with no output. Nothing is decided any more,
// and the call already has its record. An event that the agent is not known to
// have is an error, because it may be one before a call.
func (c *decideCmd) after(sys *cli.System, l *record.Line) (hook.Answer, bool, error) {
	var (
		actor  record.Actor
		action record.Action
	)
	if l.Decode("actor", &actor) != nil || l.Decode("action", &action) != nil || action.Kind != record.KindEvent {
		return hook.Answer{}, false, nil // what cannot be decoded is not decided either
	}
	if !hook.After(c.Reply, actor.Event) {
		_, err := hook.Tells(c.Reply, &actor, &action)
		return hook.Answer{}, false, err
	}
	id := hook.RecordOf(&action)
	if id == "" || trust.Inside() {
		return hook.Answer{}, true, nil
	}
	result, err := resultOf(sys, action.Workspace, id, &actor)
	if err != nil {
		sys.Warn("cannot show what the boundary refused: "+err.Error(), "")
	}
	if result == nil {
		return hook.Answer{}, true, nil
	}
	approvable := func(host string) bool { return trust.New(sys.Getenv).Carries(id, host, sys.Now()) }
	return hook.Context(c.Reply, &actor, hook.Refusals(id, result, func(d *record.Denial) string { return hook.WayOut(d, id, approvable) })), true, nil
}

// resultOf returns the result of a call of the same agent and session, or nil
// if there is none.
func resultOf(sys *cli.System, workspace, id string, actor *record.Actor) (*record.Result, error) {
	dir, err := storeOf(sys, workspace)
	if err != nil {
		return nil, err
	}
	store, err := trace.OpenExisting(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer store.Leave()
	store.Now = sys.Now
	l, err := store.Find(id)
	if err != nil || l == nil || !l.Has("result") {
		return nil, err
	}
	var (
		caller record.Actor
		result record.Result
	)
	if err := l.Decode("actor", &caller); err != nil || caller.Agent != actor.Agent || caller.Session != actor.Session {
		return nil, err
	}
	return &result, l.Decode("result", &result)
}
