package control

import (
	"context"
	"errors"
	"sync"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
	"ethos/pkg/statedir"
)

// gitQuarantine quarantines what the command leaves for git, or for an agent, to run
// outside the sandbox.
type gitQuarantine struct {
	*Job
	defaults
	found []quarantine.Finding
	told  int // how many of found Look has reported

	mu       sync.Mutex
	idle     bool
	fault    error               // why there is no place for a journal
	expected *quarantine.Session // begun before the command that is expected; nil: none
	ready    time.Time           // when it had begun
}

// Meanwhile starts the comparison, if the command can write anything: it records the present
// state, with which Finish compares what the command leaves.
func (c *gitQuarantine) Meanwhile(ctx context.Context) {
	c.record(c.begin(ctx, c.Plan.Scans(), nil))
}

// begin starts the comparison from scans that were made just now, or from earlier ones that
// are brought up to date. It returns nil if there is nothing to compare.
func (c *gitQuarantine) begin(ctx context.Context, now, before []*treescan.Tree) *quarantine.Session {
	p := c.Plan
	roots := p.WritableRoots()
	if len(roots) == 0 {
		return nil
	}
	scope := scopeOf(p.Home, p.Getenv)
	scope.Roots, scope.Scans, scope.Before, scope.ReadOnly = roots, now, before, p.ReadOnlyIn(roots)
	scope.Writable = func(path string) bool { return c.opened() != "" || p.CanWrite(path) }
	scope.Journals, c.fault = statedir.Make(p.Getenv, journalsName)
	if c.fault != nil {
		scope.Journals = ""
	}
	return quarantine.Observe(ctx, scope)
}

// record makes a comparison that was begun the current one.
func (c *gitQuarantine) record(s *quarantine.Session) {
	if c.Quarantined = s; s == nil {
		return
	}
	s.Record()
	if fault := errors.Join(c.fault, s.Unjournaled()); fault != nil {
		c.Left = append(c.Left, plan.Note{About: plan.ControlGit, Reason: "if ethos-sandbox is killed, what the command left is not found: " + fault.Error()})
	}
}

func (c *gitQuarantine) Finish(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Quarantined != nil && !c.idle {
		c.found = append(c.found, c.Quarantined.Finish(context.WithoutCancel(ctx))...)
	}
}

// Look compares what the commands of a session have left with the state when the first of
// them began. Processes that a command left running may change more; the state at the start
// then remains the reference.
func (c *gitQuarantine) Look(ctx context.Context, idle bool) []record.Denial {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Quarantined == nil || c.idle {
		return nil
	}
	if !idle {
		return c.tell(c.Quarantined.Look(ctx))
	}
	c.idle = true
	found := c.Quarantined.Look(ctx) // Rest does what remains of Finish
	c.found = append(c.found, found...)
	defer func() { c.told = 0 }()
	return c.tell(found)
}

// tell returns the findings that have not been reported yet.
func (c *gitQuarantine) tell(found []quarantine.Finding) []record.Denial {
	list := denials(found[min(c.told, len(found)):])
	c.told = len(found)
	return list
}

// Expect begins the comparison that Wake needs.
func (c *gitQuarantine) Expect(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.Quarantined != nil {
		c.forget()
		c.Quarantined.Close() // as Rest does: its journal must not look like that of another run
		c.expected = c.begin(ctx, nil, c.Quarantined.Scanned())
		c.ready = time.Now()
	}
}

// Rest ends the comparison that Look has made for the last time.
func (c *gitQuarantine) Rest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle && c.Quarantined != nil {
		c.Quarantined.Close()
	}
}

func (c *gitQuarantine) forget() {
	if c.expected != nil {
		c.expected.Close()
		c.expected = nil
	}
}

// Wake starts a new comparison, because what changed while nothing was alive inside is the
// user's.
func (c *gitQuarantine) Wake(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.idle || c.Quarantined == nil {
		return nil
	}
	if time.Since(c.ready) > expectLimit {
		c.forget()
	}
	c.Quarantined.Close() // as in Expect
	next := c.expected
	if c.expected = nil; next == nil {
		next = c.begin(ctx, nil, c.Quarantined.Scanned())
	}
	c.idle = false
	c.record(next)
	return nil
}

func (c *gitQuarantine) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forget(); c.Quarantined != nil {
		c.Quarantined.Close()
	}
}

func (c *gitQuarantine) Evidence(e *record.Sandbox, _ bool) {
	e.Denials = append(e.Denials, denials(c.found)...)
}

// Recover quarantines what runs left for git or for an agent if their ethos-sandbox was
// killed before it could: see [quarantine.Recover]. Call it before planning, once in a
// process. environ is this process's environment.
func Recover(ctx context.Context, environ []string) []record.Denial {
	getenv := func(name string) string { return plan.Lookup(environ, name) }
	dir, err := statedir.Open(getenv, journalsName)
	if err != nil {
		return nil // there are no journals
	}
	found := inEffectFirst(quarantine.Recover(ctx, dir, scopeOf(getenv("HOME"), getenv)))
	list := denials(found)
	for i := range list {
		if i < len(found) && found[i].Again {
			list[i].Reason = "left by an earlier run: " + list[i].Reason
		} else {
			list[i].Reason = "left by a run that was killed: " + list[i].Reason
		}
	}
	return list
}
