package proof

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
)

// Run is a stored run with a tree.
type Run struct {
	ID     string
	Result record.Result
	Sealed error // of [Check]
}

// Want is what has to be proven.
type Want struct {
	Tree      string    // the content
	Workspace string    // its place
	Since     time.Time // a run began no earlier; the zero time for any
	Now       time.Time
	Controls  []string // each was in force
	Variables []string // may have been declared, or lead to what the command could write
	// Same reports whether another content is the same for a command: nothing that needs it differs. nil: none is.
	Same func(command, tree string) bool `json:"-"`
}

// is reports whether a content is the one that counts for a command.
func (w *Want) is(command, tree string) bool {
	return tree == w.Tree || w.Same != nil && w.Same(command, tree)
}

// States of a need, best first. The further a run got, the better it explains what is lacking.
const (
	Proven      = "proven"
	Failed      = "failed"      // it ran on this content, and did not pass
	Older       = "older"       // it passed on this content, too long ago
	Degraded    = "degraded"    // a control was not in force
	Environment = "environment" // a variable could make the command another
	Changed     = "changed"     // the content was written while it ran
	Other       = "other"       // it ran on another content
	Elsewhere   = "elsewhere"   // it ran in another directory or work space
	Unsealed    = "unsealed"    // the record is not what ethos-sandbox wrote on this machine
	Missing     = "missing"     // no run with a content is recorded
	Unneeded    = "unneeded"    // no file needs it that is not as it was; [Judge] does not say it
)

var states = []string{Proven, Failed, Older, Degraded, Environment, Changed, Other, Elsewhere, Unsealed, Missing}

// Verdict is what the store has for a need.
type Verdict struct {
	Need  string `json:"need"`
	State string `json:"state"`
	Why   string `json:"why"`
	ID    string `json:"id,omitempty"`   // of the run that it goes by
	Time  string `json:"time,omitempty"` // when that began
	Tree  string `json:"tree,omitempty"` // that it ended with
}

// Judge says whether one of the runs, which are in the order of the store, proves that a command passed on a content. The last run of the command on
// that content counts, of those that can count: one that failed is not outweighed by one before it.
func Judge(command string, runs []Run, w Want) Verdict {
	best := Verdict{Need: command, State: Missing, Why: "no run of it is recorded with its content"}
	for _, r := range slices.Backward(runs) {
		if !needs.Is(command, r.Result.Capture.Tree.Argv) {
			continue
		}
		v := w.judge(command, r)
		v.Need, v.ID, v.Time, v.Tree = command, r.ID, r.Result.Started, r.Result.Capture.Tree.After
		if v.State == Proven || v.State == Failed {
			return v
		}
		if slices.Index(states, v.State) < slices.Index(states, best.State) {
			best = v
		}
	}
	return best
}

// judge looks at one run of the command.
func (w *Want) judge(command string, r Run) Verdict {
	tree := r.Result.Capture.Tree
	say := func(state, format string, args ...any) Verdict {
		return Verdict{State: state, Why: fmt.Sprintf(format, args...)}
	}
	began, err := time.Parse(time.RFC3339Nano, r.Result.Started)
	switch {
	case tree.Reason != "":
		return say(Missing, "its content could not be recorded: %s", tree.Reason)
	case r.Sealed != nil:
		return say(Unsealed, "its record was not written by ethos-sandbox for you on this machine, or was changed since, or a secret was taken out of it")
	case err != nil || began.After(w.Now.Add(time.Minute)):
		return say(Unsealed, "it began at %q", r.Result.Started)
	case tree.Workspace != w.Workspace || tree.Dir != w.Workspace:
		return say(Elsewhere, "it ran in %s, not in %s", tree.Dir, w.Workspace)
	case !w.is(command, tree.Before) && !w.is(command, tree.After):
		return say(Other, "it ran on another content")
	case r.Result.Status != record.StatusExited || r.Result.ExitCode != 0:
		return say(Failed, "it %s", ending(r.Result))
	case tree.Before != tree.After || tree.Written > 0:
		return say(Changed, "%d files or directories were written while it ran, %s for one", max(tree.Written, 1), tree.First)
	case r.Result.Capture.Sandbox.Backend != "native" || r.Result.Capture.Sandbox.Session != "":
		return say(Degraded, "it did not run in a boundary of its own")
	}
	for _, name := range w.Controls {
		if lack := lacks(r.Result.Capture.Sandbox, name); lack != "" {
			return say(Degraded, "%s: %s", name, lack)
		}
	}
	for _, name := range tree.Variables {
		if !slices.Contains(w.Variables, name) {
			return say(Environment, "the variable %s was declared, or leads to what the command can write", name)
		}
	}
	if began.Before(w.Since) {
		return say(Older, "it ran at %s", r.Result.Started)
	}
	if tree.After != w.Tree {
		return say(Proven, "it passed on a content that differs in nothing that needs it")
	}
	return say(Proven, "it passed")
}

func ending(r record.Result) string {
	if r.Status == record.StatusExited {
		return fmt.Sprintf("exited with status %d", r.ExitCode)
	}
	return "ended: " + strings.TrimSpace(r.Status+" "+r.Signal)
}

// lacks says why a control was not in force; "" when it was.
func lacks(box record.Sandbox, name string) string {
	for _, c := range box.Controls {
		if c.Name == name {
			if c.State != "enforced" {
				return strings.TrimSuffix(c.State+": "+c.Reason, ": ")
			}
			return ""
		}
	}
	return "not in the evidence"
}

// DefaultControls are those that keep a command from what is not its own.
func DefaultControls() []string {
	return []string{"userns", "mount", "pid", "network", "privileges", "landlock", "seccomp"}
}
