package control

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"

	"ethos/pkg/printable"
	"ethos/pkg/protected"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
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
	p := c.Plan
	roots := p.WritableRoots()
	if len(roots) == 0 {
		return
	}
	scope := scopeOf(p.Home, p.Getenv)
	scope.Roots, scope.Scans, scope.ReadOnly = roots, p.Scans(), p.ReadOnlyIn(roots)
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
		c.Scan(ctx)
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

// scopeOf is what every search in the writable trees has in common.
func scopeOf(home string, getenv func(string) string) quarantine.Scope {
	return quarantine.Scope{Home: home, Settings: protected.Single(), Runs: protected.RunsBelow, Kept: plan.EthosDir, Memory: func(root string) string { return plan.ScanMemory(getenv, root) }}
}

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

// maxFindings bounds what the evidence says of findings: their names are the command's.
const maxFindings = 50

// denials are findings as the evidence has them.
func denials(found []quarantine.Finding) (list []record.Denial) {
	for i, f := range found {
		if i == maxFindings {
			return append(list, record.Denial{Layer: plan.ControlGit, What: strconv.Itoa(len(found)-i) + " more", Reason: "as the ones before"})
		}
		list = append(list, record.Denial{
			Layer: plan.ControlGit, What: shown(f.Path + ": " + f.What), Reason: shown(reason(f)),
			Path: f.Path, Kept: f.Aside, Remedy: remedy(f),
		})
	}
	return list
}

// reason says what became of a finding.
func reason(f quarantine.Finding) string {
	const would = "git or an agent would use it outside of the sandbox"
	switch {
	case f.Err != nil:
		return would + ", and it is still in force: " + f.Err.Error()
	case f.Aside == "":
		return "what lies in it could have been used outside of the sandbox unseen"
	case f.Rest:
		return would + "; the rest of the file stays"
	}
	return would + "; it was put aside"
}

// remedy is what a person does about a finding.
func remedy(f quarantine.Finding) string {
	switch {
	case f.Err != nil:
		return "remove it, or run no git command there"
	case f.Aside == "":
		return "nothing, it is done"
	case filepath.Base(f.Path) == "index":
		return "make the index anew with: git reset"
	}
	return "read it, and put back what you want: mv " + printable.Word(f.Aside) + " " + printable.Word(f.Path)
}
