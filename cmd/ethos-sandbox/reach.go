package main

import (
	"ethos/pkg/cli"
	"ethos/pkg/origin"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

// asker is the origin of a command according to its record; nil is a person at a terminal.
type asker struct {
	id    string
	agent string
	facts record.Facts
}

// askerOf returns the asker of a record. A command that no agent requested has no asker, unless it
// involves what an agent's command has left.
func askerOf(line *record.Line) (*asker, error) {
	var actor record.Actor
	a := &asker{id: line.ID()}
	err := line.Decode("actor", &actor)
	if err == nil {
		err = line.Decode("facts", &a.facts)
	}
	a.agent = actor.Agent
	if err != nil || a.agent == "" && origin.Inherited(&a.facts) == nil {
		return nil, err
	}
	return a, nil
}

// asker looks up the record that gets the result. It returns nil if there is none, or if it is not
// an agent's.
func (r *recorded) asker() (*asker, error) {
	if r.line == nil {
		dir, err := r.store()
		if err != nil {
			return nil, err
		}
		store, err := trace.OpenExisting(dir)
		if err != nil {
			return nil, err
		}
		defer store.Leave()
		store.Now = r.sys.Now
		if r.line, err = store.Find(r.id); err != nil {
			return nil, err
		}
		if r.line == nil {
			return &asker{id: r.id}, nil
		}
	}
	return askerOf(r.line)
}

// asker returns the asker of a command with flags: from its record, or from a hook that keeps no
// record.
func (e *evidenceFlags) asker() (*asker, error) {
	switch {
	case e.record != nil:
		return e.record.asker()
	case e.unrecorded:
		return &asker{}, nil
	}
	return nil, nil
}

// reach says how a plan's command can reach the network, or returns "" if it cannot.
func reach(plan *sandbox.Plan) string {
	if plan.Network == "host" || plan.Network == "proxy" && len(plan.AllowDomains) > 0 {
		return plan.Network
	}
	return ""
}

// writable returns the host directories that a plan's command can write to.
func writable(plan *sandbox.Plan) (roots []string) {
	for _, e := range plan.Paths {
		if e.Access == sandbox.ReadWrite {
			roots = append(roots, e.Path)
		}
	}
	return roots
}

// remember registers, while it runs, a command that can reach the network, or that involves what
// such a command has written: see package origin. Call the returned function when the command has
// ended.
func remember(sys *cli.System, network string, roots []string, dir string, a *asker, err error) (end func()) {
	lost := func(err error) {
		sys.Warn("cannot record where the files that this command writes come from: "+err.Error(), "the command runs; ethos-sandbox doctor shows the state folder")
	}
	if err != nil {
		lost(err)
	}
	if a == nil || trust.Inside() { // the state folder is not visible
		return func() {}
	}
	memory := origin.New(sys.Getenv)
	run := memory.Describe(origin.Run{Action: a.id, Agent: a.agent, Network: network, Roots: roots}, &a.facts, dir)
	if run == nil {
		return func() {}
	}
	begun, err := memory.Begin(*run)
	if err != nil {
		lost(err)
		return func() {}
	}
	return func() {
		if err := begun.End(); err != nil {
			lost(err)
		}
	}
}
