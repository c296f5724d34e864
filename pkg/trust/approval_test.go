package trust

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ethos/pkg/record"
)

// approving is a memory of its own, and the moment that its clock tells.
func approving(t *testing.T) (m *Memory, at *moment, dir string) {
	t.Helper()
	state := t.TempDir()
	m = New(func(name string) string { return map[string]string{"XDG_STATE_HOME": state}[name] })
	at = &moment{"boot", time.Hour}
	m.clock = func() (moment, error) { return *at, nil }
	return m, at, filepath.Join(state, "ethos", approvedFolder)
}

func oneCall() Approval {
	return Approval{ID: "id", Call: "sha256:call", Policies: []string{"p"}, By: "me", For: 10 * time.Minute}
}

func approve(t *testing.T, m *Memory, a Approval) {
	t.Helper()
	if err := m.Approve(a, "/w", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
}

func TestApprovalIsUsedOnce(t *testing.T) {
	m, _, dir := approving(t)
	if a, err := m.Take("sha256:call", "/w"); a != nil || err != nil {
		t.Fatalf("before: %+v, %v", a, err)
	}
	approve(t, m, oneCall())
	if a, err := m.Take("sha256:other", "/w"); a != nil || err != nil {
		t.Fatalf("another call: %+v, %v", a, err)
	}
	if a, err := m.Take("sha256:call", "/w"); err != nil || a == nil || a.ID != "id" || a.By != "me" {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, err := m.Take("sha256:call", "/w"); a != nil || err != nil {
		t.Fatalf("once more: %+v, %v", a, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestOneOfManyPasses: of calls that come at once, one gets the approval.
func TestOneOfManyPasses(t *testing.T) {
	m, _, _ := approving(t)
	for range 5 {
		approve(t, m, oneCall())
		var passed atomic.Int32
		var group sync.WaitGroup
		begin := make(chan struct{})
		for range 8 {
			group.Go(func() {
				<-begin
				if a, err := m.Take("sha256:call", "/w"); err == nil && a != nil {
					passed.Add(1)
				}
			})
		}
		close(begin)
		group.Wait()
		if passed.Load() != 1 {
			t.Fatalf("%d passed", passed.Load())
		}
	}
}

func TestApprovalOfASession(t *testing.T) {
	m, at, dir := approving(t)
	a := oneCall()
	a.Session = true
	approve(t, m, a)
	for range 3 {
		if a, err := m.Take("sha256:call", "/w"); err != nil || a == nil || !a.Session {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	at.since += a.For + time.Second
	if a, err := m.Take("sha256:call", "/w"); a != nil || err == nil {
		t.Fatalf("after its time: %+v, %v", a, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestClockOfApprovals: what counts is how long the machine is up, which nobody
// sets.
func TestClockOfApprovals(t *testing.T) {
	for name, move := range map[string]func(*moment){
		"too late":           func(at *moment) { at.since += 10*time.Minute + time.Second },
		"another boot":       func(at *moment) { at.boot = "other" },
		"before it was made": func(at *moment) { at.since -= time.Second },
	} {
		m, at, _ := approving(t)
		approve(t, m, oneCall())
		was := *at
		move(at)
		if a, err := m.Take("sha256:call", "/w"); a != nil || err == nil {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		*at = was // set back: it is gone
		if a, err := m.Take("sha256:call", "/w"); a != nil || err != nil {
			t.Errorf("%s, and set back: %+v, %v", name, a, err)
		}
	}
	m, at, _ := approving(t)
	approve(t, m, oneCall())
	at.since += 9 * time.Minute
	if a, err := m.Take("sha256:call", "/w"); a == nil || err != nil {
		t.Errorf("in time: %v", err)
	}
}

func TestSinceBoot(t *testing.T) {
	at, err := sinceBoot()
	if err != nil || at.boot == "" || at.since <= 0 {
		t.Errorf("%+v, %v", at, err)
	}
}

// TestForgedApprovals: what somebody else put there approves nothing.
func TestForgedApprovals(t *testing.T) {
	good := oneCall()
	good.Boot, good.Since = "boot", time.Hour
	text := func(change func(*Approval)) []byte {
		a := good
		change(&a)
		out, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	whole := text(func(*Approval) {})
	for name, plant := range map[string]func(file string) error{
		"link": func(file string) error {
			real := filepath.Join(t.TempDir(), "approval")
			return errors.Join(os.WriteFile(real, whole, 0o600), os.Symlink(real, file))
		},
		"directory":    func(file string) error { return os.Mkdir(file, 0o700) },
		"others write": func(file string) error { return errors.Join(os.WriteFile(file, whole, 0o600), os.Chmod(file, 0o666)) },
		"another call": func(file string) error {
			return os.WriteFile(file, text(func(a *Approval) { a.Call = "sha256:other" }), 0o600)
		},
		"for a session": func(file string) error {
			return os.WriteFile(file, text(func(a *Approval) { a.Session = true }), 0o600)
		},
		"for ever":  func(file string) error { return os.WriteFile(file, text(func(a *Approval) { a.For = 1 << 60 }), 0o600) },
		"cut short": func(file string) error { return os.WriteFile(file, whole[:len(whole)/2], 0o600) },
		"two":       func(file string) error { return os.WriteFile(file, append(whole, whole...), 0o600) },
	} {
		m, _, dir := approving(t)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := plant(filepath.Join(dir, approvalName("sha256:call", false))); err != nil {
			t.Fatal(err)
		}
		if a, err := m.Take("sha256:call", "/w"); a != nil || err == nil {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	m, _, dir := approving(t) // the twin
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, approvalName("sha256:call", false)), whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	if a, err := m.Take("sha256:call", "/w"); a == nil || err != nil {
		t.Errorf("what all of them are made of: %v", err)
	}
}

// TestFoldersOfApprovals: a folder that is a link, that others write to, or that
// lies in the work space approves nothing.
func TestFoldersOfApprovals(t *testing.T) {
	m, _, dir := approving(t)
	approve(t, m, oneCall())
	if a, err := m.Take("sha256:call", filepath.Dir(filepath.Dir(dir))); a != nil || err == nil || !strings.Contains(err.Error(), "in the work space") {
		t.Errorf("in the work space: %+v, %v", a, err)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if a, err := m.Take("sha256:call", "/w"); a != nil || err == nil {
		t.Errorf("others can write: %+v, %v", a, err)
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Rename(dir, dir+"2"), os.Symlink(dir+"2", dir)); err != nil {
		t.Fatal(err)
	}
	if a, err := m.Take("sha256:call", "/w"); a != nil || err == nil {
		t.Errorf("a link: %+v, %v", a, err)
	}
	if err := m.Approve(oneCall(), "/w", time.Now()); err == nil {
		t.Error("an approval was written through a link")
	}
}

// TestCallOf: every fact and every word of a call counts, what is said beside it
// does not.
func TestCallOf(t *testing.T) {
	action := record.Action{Kind: record.KindShell, Script: "make", Cwd: "/w", Workspace: "/w", Input: json.RawMessage(`{"description":"a"}`)}
	actor := record.Actor{Agent: "claude", Session: "s", Mode: record.ModeSafe}
	digest := func(change func(*record.Action, *record.Actor, *record.Facts)) string {
		a, who, f := action, actor, record.Facts{}
		change(&a, &who, &f)
		out, err := CallOf(a, who, &f)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	same := digest(func(*record.Action, *record.Actor, *record.Facts) {})
	for name, change := range map[string]func(*record.Action, *record.Actor, *record.Facts){
		"words":       func(a *record.Action, _ *record.Actor, _ *record.Facts) { a.Script = "make " },
		"assignment":  func(a *record.Action, _ *record.Actor, _ *record.Facts) { a.Script = "CC=x make" },
		"directory":   func(a *record.Action, _ *record.Actor, _ *record.Facts) { a.Cwd = "/w/sub" },
		"work space":  func(a *record.Action, _ *record.Actor, _ *record.Facts) { a.Workspace = "/v" },
		"typed into":  func(a *record.Action, _ *record.Actor, _ *record.Facts) { a.Interactive = true },
		"agent":       func(_ *record.Action, w *record.Actor, _ *record.Facts) { w.Agent = "codex" },
		"session":     func(_ *record.Action, w *record.Actor, _ *record.Facts) { w.Session = "t" },
		"mode":        func(_ *record.Action, w *record.Actor, _ *record.Facts) { w.Mode = record.ModeAuto },
		"unconfined":  func(_ *record.Action, w *record.Actor, _ *record.Facts) { w.Confined = true },
		"environment": func(_ *record.Action, _ *record.Actor, f *record.Facts) { f.Capabilities.Env.Pass = []string{"X"} },
		"a symlink":   func(_ *record.Action, _ *record.Actor, f *record.Facts) { f.Files = []record.File{{Resolved: "/etc"}} },
		"branch":      func(_ *record.Action, _ *record.Actor, f *record.Facts) { f.Repo.Branch = "main" },
	} {
		if digest(change) == same {
			t.Errorf("another %s is the same call", name)
		}
	}
	for name, change := range map[string]func(*record.Action, *record.Actor, *record.Facts){
		"description": func(a *record.Action, _ *record.Actor, _ *record.Facts) { a.Input = json.RawMessage(`{}`) },
		"approval":    func(_ *record.Action, w *record.Actor, _ *record.Facts) { w.AdminApproved = true },
	} {
		if digest(change) != same {
			t.Errorf("another %s is another call", name)
		}
	}
}

func TestRefusedCalls(t *testing.T) {
	m, _, _ := approving(t)
	now := time.Now()
	note := func(id, command string, at time.Time) {
		t.Helper()
		if err := m.Note(Refused{ID: id, Command: command, Workspace: "/w"}, at); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := m.Refused(now); err != nil || len(list) > 0 {
		t.Fatalf("%v, %v", list, err)
	}
	note("c", "long ago", now.Add(-2*time.Hour))
	note("b", "second", now)
	note("a", "first", now.Add(-time.Minute))
	note("b", "another under the same id", now)
	list, err := m.Refused(now)
	if err != nil || len(list) != 2 || list[0].Command != "first" || list[1].Command != "second" {
		t.Fatalf("%+v, %v", list, err)
	}
	for i := range maxRefused + 10 {
		note(time.Duration(i).String(), "many", now)
	}
	if list, err = m.Refused(now); err != nil || len(list) > maxRefused {
		t.Errorf("%d are kept, %v", len(list), err)
	}
}
