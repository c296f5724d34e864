package control

import (
	"context"
	"errors"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
	"ethos/pkg/statedir"
)

// gitQuarantine puts aside what the command leaves for git, or for an agent, to run outside of the sandbox.
type gitQuarantine struct {
	*Job
	found []quarantine.Finding
	told  int // of found, by Look
	idle  bool
}

func (c *gitQuarantine) Name() string { return plan.ControlGit }

// Scan begins the comparison of what the command leaves with what is there, where it can write something.
func (c *gitQuarantine) Scan(ctx context.Context) {
	c.begin(ctx, c.Plan.Scans(), nil)
}

// begin begins the comparison with scans that were made just now, or that begin
// with earlier ones.
func (c *gitQuarantine) begin(ctx context.Context, now, before []*treescan.Tree) {
	p := c.Plan
	roots := p.WritableRoots()
	if len(roots) == 0 {
		return
	}
	scope := scopeOf(p.Home, p.Getenv)
	scope.Roots, scope.Scans, scope.Before, scope.ReadOnly = roots, now, before, p.ReadOnlyIn(roots)
	scope.Writable = func(path string) bool { return c.Opened != nil || p.CanWrite(path) }
	var fault error
	if scope.Journals, fault = statedir.Make(p.Getenv, journalsName); fault != nil {
		scope.Journals = ""
	}
	c.Quarantined = quarantine.Begin(ctx, scope)
	if fault = errors.Join(fault, c.Quarantined.Unjournaled()); fault != nil {
		c.Left = append(c.Left, plan.Note{About: plan.ControlGit, Reason: "were ethos-sandbox killed, what the command left would not be found: " + fault.Error()})
	}
}

// Finish compares, and puts aside.
func (c *gitQuarantine) Finish(ctx context.Context) {
	if c.Quarantined != nil && !c.idle {
		c.found = append(c.found, c.Quarantined.Finish(context.WithoutCancel(ctx))...)
	}
}

// Look compares what the commands of a session have left with what was there
// when the first of them began. What a command has left running may change more:
// then what was there at the start stays what counts.
func (c *gitQuarantine) Look(ctx context.Context, idle bool) []record.Denial {
	if c.Quarantined == nil || c.idle {
		return nil
	}
	if !idle {
		return c.tell(c.Quarantined.Look(ctx))
	}
	c.idle = true
	found := c.Quarantined.Finish(ctx)
	c.found = append(c.found, found...)
	defer func() { c.told = 0 }()
	return c.tell(found)
}

// tell are those of the findings that were not told.
func (c *gitQuarantine) tell(found []quarantine.Finding) []record.Denial {
	list := denials(found[min(c.told, len(found)):])
	c.told = len(found)
	return list
}

// Wake begins anew: what a person changed while nothing was alive inside is
// theirs.
func (c *gitQuarantine) Wake(ctx context.Context) error {
	if c.idle {
		c.idle = false
		c.Quarantined.Close()
		c.begin(ctx, nil, c.Quarantined.Scanned())
	}
	return nil
}

func (c *gitQuarantine) Clear() {
	if c.Quarantined != nil {
		c.Quarantined.Close()
	}
}

// Evidence tells of what was put aside.
func (c *gitQuarantine) Evidence(e *record.Sandbox, _ bool) {
	e.Denials = append(e.Denials, denials(c.found)...)
}

// journalsName is the directory of the state folder in which runs keep what was
// there when they began.
const journalsName = "runs"

// Recover puts aside what runs left for git or for an agent whose ethos-sandbox
// was killed before it could: see [quarantine.Recover]. It belongs before
// planning, once in a process; environ is this process's environment.
func Recover(ctx context.Context, environ []string) []record.Denial {
	getenv := func(name string) string { return plan.Lookup(environ, name) }
	dir, err := statedir.Open(getenv, journalsName)
	if err != nil {
		return nil // nothing is kept there
	}
	found := quarantine.Recover(ctx, dir, scopeOf(getenv("HOME"), getenv))
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
