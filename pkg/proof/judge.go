package proof

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
)

// Run is a stored run. One without a tree proves nothing, and counts only if it failed.
type Run struct {
	ID     string
	Result record.Result
	Sealed error // result of [Check]
	// Of a run without a tree: what ran, where, and in which work space, as its action says.
	Argv           []string
	Dir, Workspace string
	// Declared are the variables that its record declares for it. They explain a verdict, and
	// decide nothing: they have no seal.
	Declared record.Env
}

// Want says what has to be proven.
type Want struct {
	Tree      string    // the content
	Workspace string    // the root of its workspace
	Since     time.Time // earliest start of a run; the zero time for any
	Now       time.Time
	Controls  []string // each must have been in force
	Variables []string // may be declared, or refer to what the command could write
	// Same reports whether another content is equivalent for a command: no file that needs the
	// command differs. nil: none is.
	Same func(command, tree string) bool `json:"-"`
}

func (w *Want) is(command, tree string) bool {
	return tree == w.Tree || w.Same != nil && w.Same(command, tree)
}

// The states of a need, best first. The closer a run came, the better it explains what is missing.
const (
	Proven      = "proven"
	Failed      = "failed"      // it ran on this content, or nobody knows on which, and failed
	Older       = "older"       // it passed on this content, too long ago
	Degraded    = "degraded"    // a control was not in force
	Environment = "environment" // a variable could have changed what the command does
	Changed     = "changed"     // the content was changed during the run
	Other       = "other"       // it ran on another content
	Elsewhere   = "elsewhere"   // it ran in another directory or workspace
	Unsealed    = "unsealed"    // the record is not as ethos-sandbox wrote it on this machine
	Missing     = "missing"     // no run with a content is recorded
	Unneeded    = "unneeded"    // no changed file needs it; [Judge] does not return it
)

var states = []string{Proven, Failed, Older, Degraded, Environment, Changed, Other, Elsewhere, Unsealed, Missing}

// Verdict is what the store holds for a need.
type Verdict struct {
	Need  string `json:"need"`
	State string `json:"state"`
	Why   string `json:"why"`
	ID    string `json:"id,omitempty"`   // of the run that decided
	Time  string `json:"time,omitempty"` // when the run began
	Tree  string `json:"tree,omitempty"` // the tree at the end of the run
}

// Judge reports whether one of the runs, given in the order of the store, proves that a command
// passed on a content. Of the runs that count, the last run of the command on that content decides:
// an earlier success does not outweigh a failure. A failed run of which nothing proves on which
// content it was may have been on that one.
func Judge(command string, runs []Run, w Want) Verdict {
	var unknown *Verdict // of the last failure that may have been on the content
	best := Verdict{Need: command, State: Missing, Why: "no run of it is recorded with its content"}
	for _, r := range slices.Backward(runs) {
		if tree := r.Result.Capture.Tree; tree != nil {
			r.Argv, r.Dir, r.Workspace = tree.Argv, tree.Dir, tree.Workspace
		}
		if !needs.Is(command, r.Argv) {
			continue
		}
		v, known := w.judge(command, r)
		v.Need, v.ID, v.Time = command, r.ID, r.Result.Started
		if tree := r.Result.Capture.Tree; tree != nil {
			v.Tree = tree.After
		}
		switch {
		case !known:
			if v.State == Failed && unknown == nil {
				unknown = &v
			}
			continue
		case v.State == Proven && unknown != nil:
			return *unknown
		case v.State == Proven || v.State == Failed:
			return v
		}
		if slices.Index(states, v.State) < slices.Index(states, best.State) {
			best = v
		}
	}
	if best.State == Missing && unknown != nil {
		return *unknown
	}
	return best
}

// judge checks one run of the command; known is false if nothing proves on which content it was, and
// it failed or has none.
func (w *Want) judge(command string, r Run) (v Verdict, known bool) {
	tree := r.Result.Capture.Tree
	unknown := tree == nil || tree.Reason != "" || r.Sealed != nil
	if unknown && r.failed() && r.Workspace == w.Workspace && r.Dir == w.Workspace {
		return Verdict{State: Failed, Why: "it " + ending(r.Result) + ", and nothing proves on which content"}, false
	}
	if tree == nil {
		return v, false
	}
	return w.sealed(command, r), true
}

// failed reports whether the command ran and did not pass.
func (r *Run) failed() bool {
	return r.Result.Status != record.StatusDenied && (r.Result.Status != record.StatusExited || r.Result.ExitCode != 0)
}

// sealed checks a run with a content.
func (w *Want) sealed(command string, r Run) Verdict {
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
	case r.failed():
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
			return say(Environment, "%s; run it without, or a person accepts it: --allow-env %s", source(r.Declared, name), name)
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

// source says where a variable comes from that may change what a command does.
func source(declared record.Env, name string) string {
	if value, set := declared.Set[name]; set {
		return fmt.Sprintf("its record (capabilities.env.set: its tool, a policy or the repository's configuration) sets the variable %s to %q", name, value)
	}
	if slices.Contains(declared.Pass, name) {
		return fmt.Sprintf("its record (capabilities.env.pass: its tool, a policy or the repository's configuration) passes the variable %s of the caller on", name)
	}
	return fmt.Sprintf("a flag (--env) declared the variable %s, or its value leads to what the command can write", name)
}

func ending(r record.Result) string {
	if r.Status == record.StatusExited {
		return fmt.Sprintf("exited with status %d", r.ExitCode)
	}
	return "ended: " + strings.TrimSpace(r.Status+" "+r.Signal)
}

// lacks says why a control was not in force, or returns "" if it was.
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

// DefaultControls returns the controls that keep a command away from what is not its own.
func DefaultControls() []string {
	return []string{"userns", "mount", "pid", "network", "privileges", "landlock", "seccomp"}
}
