package proof

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
)

const (
	here  = "/w"
	good  = "1111111111111111111111111111111111111111"
	other = "2222222222222222222222222222222222222222"
)

// passed is a run of go test that proves what is wanted, as it is changed, sealed under its id.
func passed(t *testing.T, getenv func(string) string, id string, change ...func(*record.Result)) Run {
	t.Helper()
	r := record.Result{Status: record.StatusExited, Started: "2026-11-23T10:00:00Z", Capture: record.Capture{
		Sandbox: record.Sandbox{Backend: "native"},
		Tree:    &record.Tree{Before: good, After: good, Argv: []string{"go", "test", "./..."}, Dir: here, Workspace: here, Variables: []string{}},
	}}
	for _, name := range DefaultControls() {
		r.Capture.Sandbox.Controls = append(r.Capture.Sandbox.Controls, record.Control{Name: name, State: "enforced"})
	}
	for _, c := range change {
		c(&r)
	}
	if err := Seal(getenv, id, &r); err != nil {
		t.Fatal(err)
	}
	return Run{ID: id, Result: r, Sealed: Check(getenv, id, r)}
}

func state(t *testing.T) func(string) string {
	t.Helper()
	dir := t.TempDir()
	return func(name string) string { return map[string]string{"XDG_STATE_HOME": dir}[name] }
}

// TestJudgeNamesTheSource: what is said of a variable says who declared it and what to do.
func TestJudgeNamesTheSource(t *testing.T) {
	now := time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC)
	for want, declared := range map[string]record.Env{
		`capabilities.env.set: `:  {Set: map[string]string{"X": "1"}},
		`capabilities.env.pass: `: {Pass: []string{"X"}},
		`a flag (--env)`:          {Set: map[string]string{"Y": "1"}},
	} {
		run := passed(t, state(t), "a", func(r *record.Result) { r.Capture.Tree.Variables = []string{"X"} })
		run.Declared = declared
		v := Judge("go test ./...", []Run{run}, Want{Tree: good, Workspace: here, Now: now})
		if v.State != Environment || !strings.Contains(v.Why, want) || !strings.Contains(v.Why, "the variable X") || !strings.HasSuffix(v.Why, "--allow-env X") {
			t.Errorf("%v: %+v", declared, v)
		}
	}
}

func TestJudge(t *testing.T) {
	now := time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change func(*record.Result)
		want   func(*Want)
		state  string
	}{
		"a run that passed":        {state: Proven},
		"by a shell":               {change: argv("bash", "-c", " go test ./...\n"), state: Proven},
		"in the last hours":        {want: func(w *Want) { w.Since = now.Add(-2 * time.Hour) }, state: Proven},
		"too long ago":             {want: func(w *Want) { w.Since = now.Add(-time.Minute) }, state: Older},
		"in a time to come":        {change: func(r *record.Result) { r.Started = "2026-11-24T10:00:00Z" }, state: Unsealed},
		"failed":                   {change: func(r *record.Result) { r.ExitCode = 1 }, state: Failed},
		"killed":                   {change: func(r *record.Result) { r.Status, r.Signal = record.StatusSignaled, "SIGKILL" }, state: Failed},
		"on other content":         {change: func(r *record.Result) { r.Capture.Tree.Before, r.Capture.Tree.After = other, other }, state: Other},
		"changed while it ran":     {change: func(r *record.Result) { r.Capture.Tree.Before = other }, state: Changed},
		"changed by its end":       {change: func(r *record.Result) { r.Capture.Tree.After = other }, state: Changed},
		"changed and changed back": {change: func(r *record.Result) { r.Capture.Tree.Written = 1 }, state: Changed},
		"in a directory below":     {change: func(r *record.Result) { r.Capture.Tree.Dir = here + "/sub" }, state: Elsewhere},
		"in another work space":    {change: func(r *record.Result) { r.Capture.Tree.Dir, r.Capture.Tree.Workspace = "/v", "/v" }, state: Elsewhere},
		"without a boundary":       {change: func(r *record.Result) { r.Capture.Sandbox.Backend = "none" }, state: Degraded},
		"in another's boundary":    {change: func(r *record.Result) { r.Capture.Sandbox.Backend = "outer" }, state: Degraded},
		"in a session":             {change: func(r *record.Result) { r.Capture.Sandbox.Session = "x" }, state: Degraded},
		"with a network":           {change: func(r *record.Result) { r.Capture.Sandbox.Controls[3].State = "not_requested" }, state: Degraded},
		"without a control":        {change: func(r *record.Result) { r.Capture.Sandbox.Controls = nil }, state: Degraded},
		"where that is allowed":    {change: func(r *record.Result) { r.Capture.Sandbox.Controls[3].State = "degraded" }, want: func(w *Want) { w.Controls = []string{"mount"} }, state: Proven},
		"with GOFLAGS":             {change: func(r *record.Result) { r.Capture.Tree.Variables = []string{"GOFLAGS"} }, state: Environment},
		"with GOFLAGS, allowed":    {change: func(r *record.Result) { r.Capture.Tree.Variables = []string{"GOFLAGS"} }, want: func(w *Want) { w.Variables = []string{"GOFLAGS"} }, state: Proven},
		"without content":          {change: func(r *record.Result) { r.Capture.Tree.Reason = "a FIFO" }, state: Missing},
		"in a comment":             {change: argv("sh", "-c", "true # go test ./..."), state: Missing},
		"in a pipe":                {change: argv("bash", "-c", "go test ./... | tail"), state: Missing},
		"its failure forgiven":     {change: argv("bash", "-c", "go test ./... || true"), state: Missing},
		"fewer packages":           {change: argv("go", "test"), state: Missing},
		"one word":                 {change: argv("go test ./..."), state: Missing},
		"a shell of its own":       {change: argv("/w/bash", "-c", "go test ./..."), state: Missing},
		"with a variable before":   {change: argv("env", "GOFLAGS=-run=X", "go", "test", "./..."), state: Missing},
		"arguments of the script":  {change: argv("bash", "-c", "go test ./...", "x"), state: Missing},
	} {
		t.Run(name, func(t *testing.T) {
			getenv, changes := state(t), []func(*record.Result){}
			if c.change != nil {
				changes = append(changes, c.change)
			}
			w := Want{Tree: good, Workspace: here, Now: now, Controls: DefaultControls()}
			if c.want != nil {
				c.want(&w)
			}
			if v := Judge("go test ./...", []Run{passed(t, getenv, "a", changes...)}, w); v.State != c.state {
				t.Errorf("%+v; want %s", v, c.state)
			}
		})
	}
}

func argv(words ...string) func(*record.Result) {
	return func(r *record.Result) { r.Capture.Tree.Argv = words }
}

// TestLastCounts: a failure is not outweighed by what was before it, and a run that cannot count hides none.
func TestLastCounts(t *testing.T) {
	getenv := state(t)
	ok, bad := passed(t, getenv, "a"), passed(t, getenv, "b", func(r *record.Result) { r.ExitCode = 1 })
	weak := passed(t, getenv, "c", func(r *record.Result) { r.Capture.Sandbox.Backend = "none" })
	w := Want{Tree: good, Workspace: here, Now: time.Now().AddDate(10, 0, 0), Controls: DefaultControls()}
	for want, runs := range map[string][]Run{Proven: {bad, ok, weak}, Failed: {ok, bad}, Degraded: {weak}, Missing: nil} {
		if v := Judge("go test ./...", runs, w); v.State != want {
			t.Errorf("%+v; want %s", v, want)
		}
	}
}

// TestSealHolds: what is changed, copied under another id, or sealed with another key is not believed.
func TestSealHolds(t *testing.T) {
	getenv := state(t)
	for name, forge := range map[string]func(r *record.Result) (id string){
		"status":   func(r *record.Result) string { r.ExitCode = 1; return "a" },
		"time":     func(r *record.Result) string { r.Started = "2026-11-23T10:30:00Z"; return "a" },
		"tree":     func(r *record.Result) string { r.Capture.Tree.After = other; return "a" },
		"written":  func(r *record.Result) string { r.Capture.Tree.Written = 3; return "a" },
		"command":  func(r *record.Result) string { r.Capture.Tree.Argv = []string{"true"}; return "a" },
		"control":  func(r *record.Result) string { r.Capture.Sandbox.Controls[0].State = "absent"; return "a" },
		"backend":  func(r *record.Result) string { r.Capture.Sandbox.Backend = "none"; return "a" },
		"variable": func(r *record.Result) string { r.Capture.Tree.Variables = []string{"X"}; return "a" },
		"no seal":  func(r *record.Result) string { r.Capture.Tree.Seal = ""; return "a" },
		"id":       func(*record.Result) string { return "b" },
	} {
		run := passed(t, getenv, "a")
		if run.Sealed != nil {
			t.Fatalf("the twin: %v", run.Sealed)
		}
		id := forge(&run.Result)
		if err := Check(getenv, id, run.Result); err == nil {
			t.Errorf("%s: a record that was changed is believed", name)
		}
	}
	run := passed(t, getenv, "a")
	if Check(state(t), "a", run.Result) == nil {
		t.Error("a seal of somebody else's key is believed")
	}
	key := filepath.Join(getenv("XDG_STATE_HOME"), "ethos", folder, keyName)
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info, err)
	}
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Check(getenv, "a", run.Result); err == nil || Seal(getenv, "a", &run.Result) == nil {
		t.Error("an empty key seals")
	}
}

// TestJudgeUnknown: a failure that may have been on the content outweighs an earlier success; a later success outweighs it.
func TestJudgeUnknown(t *testing.T) {
	getenv := state(t)
	want := Want{Tree: good, Workspace: here, Now: time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC)}
	words := []string{"go", "test", "./..."}
	ok := passed(t, getenv, "a")
	fails := func(r *record.Result) { r.ExitCode = 1 }
	unsealed := passed(t, getenv, "b", fails, func(r *record.Result) { r.Capture.Tree.Before, r.Capture.Tree.After = other, other })
	unsealed.Sealed = ErrSeal
	bare := func(r record.Result, argv []string, dir, space string) Run {
		return Run{ID: "c", Result: r, Sealed: record.ErrAbsent, Argv: argv, Dir: dir, Workspace: space}
	}
	exited := record.Result{Status: record.StatusExited, ExitCode: 2}
	for name, c := range map[string]struct {
		later Run
		state string
	}{
		"without a content": {bare(exited, words, here, here), Failed},
		"by a shell":        {bare(exited, []string{"sh", "-c", "go test ./..."}, here, here), Failed},
		"killed":            {bare(record.Result{Status: record.StatusSignaled, Signal: "SIGKILL"}, words, here, here), Failed},
		"without a seal":    {unsealed, Failed},
		"its content unknown": {passed(t, getenv, "d", fails, func(r *record.Result) {
			r.Capture.Tree.Reason, r.Capture.Tree.Before, r.Capture.Tree.After = "too many files", "", ""
		}), Failed},
		"on another content":        {passed(t, getenv, "e", fails, func(r *record.Result) { r.Capture.Tree.Before, r.Capture.Tree.After = other, other }), Proven},
		"in a directory below":      {bare(exited, words, here+"/sub", here), Proven},
		"in another work space":     {bare(exited, words, "/v", "/v"), Proven},
		"another command":           {bare(exited, []string{"go", "test"}, here, here), Proven},
		"passed, without a content": {bare(record.Result{Status: record.StatusExited}, words, here, here), Proven},
		"refused":                   {bare(record.Result{Status: record.StatusDenied, Reason: "decision.deny"}, words, here, here), Proven},
	} {
		t.Run(name, func(t *testing.T) {
			if v := Judge("go test ./...", []Run{ok, c.later}, want); v.State != c.state || v.Why == "" {
				t.Errorf("%+v", v)
			}
			if v := Judge("go test ./...", []Run{c.later, ok}, want); v.State != Proven {
				t.Errorf("before: %+v", v)
			}
		})
	}
	if v := Judge("go test ./...", []Run{bare(record.Result{Status: record.StatusExited}, words, here, here)}, want); v.State != Missing {
		t.Errorf("alone: %+v", v)
	}
}
