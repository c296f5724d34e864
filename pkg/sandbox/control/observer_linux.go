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

// observer sees what the command asks for by name, when that is asked for: it
// tells, and decides nothing. It has no listener of its own, because a process can
// have one: that of [unixSockets] shows it the calls.
type observer struct {
	*Job
	arch *seccomp.Arch
	seen *observe.Observer
}

func (c *observer) Name() string { return "observer" }

// Prepare names the calls, before the filter is made that notifies of them.
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

// Begin finds the command's root, before the listener is answered.
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

// Oversee begins to observe one command of a session.
func (c *observer) Oversee(pid int) {
	if c.seen != nil {
		c.seen.Own(pid)
	}
}

// Overseen is what a command of a session could not have.
func (c *observer) Overseen(pid int) []record.Denial {
	if c.seen == nil {
		return nil
	}
	return explained(c.Plan, c.seen.Owned(pid))
}

// Close gives the root back, unless somebody may still use it.
func (c *observer) Close() {
	if c.seen != nil && c.Watched != watchStuck {
		c.seen.Close()
	}
}

// Evidence tells what was not to be had, when everything has ended.
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
	if c.seen == nil || c.Spawns { // each command was told its own
		return
	}
	e.Used = used(c.seen.Uses())
	needs, more := c.seen.Needs()
	e.Denials = append(e.Denials, explained(c.Plan, needs)...)
	if more > 0 {
		e.Observer += fmt.Sprintf("; %d names had no room", more)
	}
}

// used lists the trees that were used, in the order of their paths.
func used(uses map[string]observe.Use) (list []record.Use) {
	for _, path := range slices.Sorted(maps.Keys(uses)) {
		if uses[path] != observe.Unused {
			list = append(list, record.Use{Path: path, Write: uses[path] == observe.Written})
		}
	}
	return list
}

// explainPatience bounds the search for what is outside: a name can lie on a file
// system that does not answer.
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
