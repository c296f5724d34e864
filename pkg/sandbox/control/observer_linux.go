package control

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/sandbox/kernel/observe"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/plan"
)

// observer reports the names that the command asks for, if requested. It decides nothing. A
// process can have only one seccomp listener, so the observer gets the calls through that
// of [unixSockets].
type observer struct {
	*Job
	defaults
	arch *seccomp.Arch
	seen *observe.Observer
}

// Prepare names the calls to observe, before the filter that notifies of them is compiled.
func (c *observer) Prepare(context.Context) (err error) {
	if !c.Plan.Explain {
		return nil
	}
	if c.arch, err = seccomp.Native(); err != nil {
		return &plan.Refusal{Code: plan.CodeRequire, Err: err, Hint: "amd64 and arm64 are supported"}
	}
	c.Calls = observe.Calls()
	return nil
}

// Begin opens the command's root before the listener is answered.
func (c *observer) Begin(pid int) error {
	if len(c.Calls) == 0 {
		return nil
	}
	number := func(name string) (int32, bool) { n, ok := c.arch.NumberOf(name); return int32(n), ok }
	readOnly := func(path string) bool {
		path = filepath.Clean(path)
		writable, agents := c.Plan.OfAgent(path)
		return agents && !writable || plan.Covering(c.Plan.Paths, path).Access == plan.ReadOnly
	}
	seen, err := observe.New(pid, number, readOnly)
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: "run it without --explain"}
	}
	if c.seen, c.Watch = seen, seen; c.Spawns {
		seen.Split()
	} else {
		seen.Grant(c.Plan.Declared())
	}
	return nil
}

// Oversee starts observing one command of a session.
func (c *observer) Oversee(pid int) {
	if c.seen != nil {
		c.seen.Own(pid)
	}
}

// Overseen returns what a command of a session asked for and was denied.
func (c *observer) Overseen(pid int) []record.Denial {
	if c.seen == nil {
		return nil
	}
	return explained(c.Plan, c.seen.Owned(pid))
}

// Close releases the root, unless a stuck observation may still use it.
func (c *observer) Close() {
	if c.seen != nil && c.Watched != watchStuck {
		c.seen.Close()
	}
}

// Evidence reports what was denied, once everything has ended.
func (c *observer) Evidence(e *record.Sandbox, _ bool) {
	if len(c.Calls) == 0 {
		return
	}
	switch e.Observer = c.Watched; {
	case c.Watched == "" && c.Spawns && c.seen != nil:
		e.Observer = Observed
	case c.Watched == "":
		e.Observer = "nothing was seen: nothing ran"
	}
	if c.seen == nil || c.Spawns { // each command was given its own report
		return
	}
	e.Used = used(c.seen.Uses())
	needs, more := c.seen.Needs()
	e.Denials = append(e.Denials, explained(c.Plan, needs)...)
	if more > 0 {
		e.Observer += fmt.Sprintf("; %d names did not fit", more)
	}
}

// used lists the trees that were used, sorted by path.
func used(uses map[string]observe.Use) (list []record.Use) {
	for _, path := range slices.Sorted(maps.Keys(uses)) {
		if uses[path] != observe.Unused {
			list = append(list, record.Use{Path: path, Write: uses[path] == observe.Written})
		}
	}
	return list
}

// explainPatience bounds the lookup of paths outside: a path may lie on a file system that
// does not respond.
const explainPatience = 5 * time.Second

func explained(p *plan.Plan, needs []observe.Need) []record.Denial {
	list := make([]explain.Need, len(needs))
	for i, n := range needs {
		list[i] = explain.Need{Path: n.Path, Write: n.Write, Socket: n.Socket, Address: n.Address, Process: n.Process, Call: n.Call, Count: n.Count}
	}
	found := make(chan []record.Denial, 1)
	go func() { found <- explain.Here(p).Observed(list) }()
	select {
	case denials := <-found:
		return denials
	case <-time.After(explainPatience):
		return nil
	}
}
