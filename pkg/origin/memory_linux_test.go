package origin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/internal/probetest"
)

func environment(t *testing.T) (getenv func(string) string, dir, file string) {
	t.Helper()
	state, space := t.TempDir(), t.TempDir()
	return func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] }, space, filepath.Join(state, "ethos", "reached", "runs")
}

// of is the action of the run that a file is from, "" of none.
func of(t *testing.T, m *Memory, name string) string {
	t.Helper()
	info, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := m.Runs()
	if err != nil {
		t.Fatal(err)
	}
	run := runs.Of(name, info, func() []byte { text, _ := os.ReadFile(name); return text })
	if run == nil {
		return ""
	}
	return run.Action
}

func write(t *testing.T, name string) string {
	t.Helper()
	time.Sleep(2 * tick)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * tick)
	return name
}

func TestTimesCannotBeHidden(t *testing.T) {
	getenv, dir, _ := environment(t)
	m := New(getenv)
	before := write(t, dir+"/before")
	if got := of(t, m, before); got != "" {
		t.Errorf("before any run: %q", got)
	}
	run, err := m.Begin(Run{Action: "one", Network: "proxy", Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	inside := write(t, dir+"/inside")
	if got := of(t, m, inside); got != "one" {
		t.Errorf("while it is under way: %q", got)
	}
	for name, at := range map[string]time.Time{"old": time.Unix(0, 0), "young": time.Now().Add(time.Hour)} {
		if err := os.Chtimes(write(t, filepath.Join(dir, name)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.End(); err != nil {
		t.Fatal(err)
	}
	after := write(t, dir+"/after")
	other := write(t, t.TempDir()+"/other")
	for name, want := range map[string]string{before: "", inside: "one", dir + "/old": "one", dir + "/young": "one", after: "", other: ""} {
		if got := of(t, m, name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	if err := os.Rename(inside, dir+"/renamed"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(dir+"/renamed", dir+"/linked"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/renamed", "/linked"} {
		if got := of(t, m, dir+name); got != "one" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if err := os.Chmod(before, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := of(t, m, before); got != "" {
		t.Errorf("a mode that was changed later: %q", got)
	}
}

// TestKilledRunEnds: a run whose process was killed ends with the next one that is
// remembered, not before and not never.
func TestKilledRunEnds(t *testing.T) {
	probetest.Need(t, "command:sleep")
	getenv, dir, file := environment(t)
	m := New(getenv)
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Begin(Run{Action: "killed", Network: "host", Roots: []string{dir}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := sleeper.Process.Pid
	text = bytes.ReplaceAll(text, fmt.Appendf(nil, `"pid":%d,"started":"%s"`, os.Getpid(), started(os.Getpid())), fmt.Appendf(nil, `"pid":%d,"started":"%s"`, pid, started(pid)))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	next := func() {
		run, err := m.Begin(Run{Action: "next", Network: "host", Roots: []string{t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.End(); err != nil {
			t.Fatal(err)
		}
	}
	next()
	if got := of(t, m, write(t, dir+"/a")); got != "killed" {
		t.Errorf("while its process lives: %q", got)
	}
	_ = sleeper.Process.Signal(syscall.SIGKILL)
	_ = sleeper.Wait()
	if got := of(t, m, write(t, dir+"/b")); got != "killed" {
		t.Errorf("before anybody noticed: %q", got)
	}
	next()
	if got := of(t, m, write(t, dir+"/c")); got != "" {
		t.Errorf("after the next run: %q", got)
	}
	if got := of(t, m, dir+"/b"); got != "killed" {
		t.Errorf("what was written before: %q", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	getenv, dir, _ := environment(t)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			run, err := New(getenv).Begin(Run{Action: fmt.Sprint(i), Network: "proxy", Roots: []string{dir}})
			if err == nil {
				err = run.End()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	runs, err := New(getenv).Runs()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range runs.all() {
		seen[r.Action] = r.end != 0 && r.PID == 0
	}
	if len(seen) != 40 || slices.ContainsFunc(runs.list, func(l line) bool { return bytes.Contains(l.body, []byte(`"pid"`)) }) {
		t.Errorf("%d runs, %v", len(seen), seen)
	}
}

// TestOthersFileIsAnError: what somebody else could have written tells nothing,
// and says so.
func TestOthersFileIsAnError(t *testing.T) {
	getenv, dir, file := environment(t)
	m := New(getenv)
	if runs, err := m.Runs(); runs != nil || err != nil {
		t.Errorf("%v, %v", runs, err)
	}
	run, err := m.Begin(Run{Action: "one", Network: "proxy", Roots: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.End(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o622); err != nil {
		t.Fatal(err)
	}
	if _, err := New(getenv).Runs(); err == nil {
		t.Error("it is believed")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", file); err != nil {
		t.Fatal(err)
	}
	if _, err := New(getenv).Runs(); err == nil {
		t.Error("a link is believed")
	}
	if runs, err := New(func(string) string { return "" }).Runs(); runs != nil || err != nil {
		t.Errorf("without a home: %v, %v", runs, err)
	}
}

func TestScriptsOf(t *testing.T) {
	one := ScriptsOf("/w/package.json", []byte(`{"scripts":{"a":"1","b":"2"},"dependencies":{}}`))
	for text, same := range map[string]bool{
		`{"dependencies":{"x":"1"},"scripts":{"b":"2", "a":"1"}}`: true,
		`{"scripts":{"a":"1","b":"3"}}`:                           false,
		`{}`:                                                      false,
		`not JSON`:                                                false,
	} {
		if got := ScriptsOf("/w/package.json", []byte(text)) == one; got != same {
			t.Errorf("%s: %v", text, got)
		}
	}
	if ScriptsOf("/w/x.sh", []byte("a")) == ScriptsOf("/w/x.sh", []byte("b")) {
		t.Error("another file counts by a part of it")
	}
}
