package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/ceiling"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/steps"
)

// needAlone states the need of the backend landlock.
func needAlone(t *testing.T) {
	t.Helper()
	probetest.NeedFunc(t, "landlock-abi-3", func() string {
		if kernel, err := landlock.Probe(); err != nil || kernel.ABI < 3 {
			return "the backend landlock needs it"
		}
		return ""
	})
}

// states are the controls of a run by their state.
func states(e *record.Sandbox) map[string][]string {
	list := map[string][]string{}
	for _, c := range e.Controls {
		list[c.State] = append(list[c.State], c.Name)
		if (c.State == control.Absent || c.State == control.Degraded) && c.Reason == "" {
			list["no reason"] = append(list["no reason"], c.Name)
		}
	}
	return list
}

// left are the processes with a word among their arguments.
func left(t *testing.T, word string) (list []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && slices.Contains(strings.Split(string(text), "\x00"), word) {
			list = append(list, f)
		}
	}
	return list
}

// TestLandlockBackend: the command ends as it says, in a boundary without namespaces, and nothing of it is left.
func TestLandlockBackend(t *testing.T) {
	needAlone(t)
	twice(t, func(t *testing.T) {
		word := map[bool]string{true: "10007.1", false: "10007.2"}[os.Geteuid() == 0]
		spec := script(t, `echo made > made; echo mine > "$TMPDIR/mine" && cat "$TMPDIR/mine"; mkdir "$TMPDIR/closed"; chmod 0 "$TMPDIR/closed"; echo "$TMPDIR"; sleep `+word+` & setsid sleep `+word+` & (setsid setsid sleep `+word+` &); exit 3`)
		spec.Backend = Landlock
		r := execute(t, spec)
		if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 3 {
			t.Fatalf("%v %s %d: %s", r.err, r.Status, r.ExitCode, r.Stderr.Text)
		}
		said, scratch, _ := strings.Cut(strings.TrimSpace(r.Stdout.Text), "\n")
		if _, err := os.Lstat(scratch); said != "mine" || scratch == "" || err == nil {
			t.Errorf("private directory %q, %v: %q", scratch, err, r.Stdout.Text)
		}
		if _, err := os.Stat(filepath.Join(spec.Workspace, "made")); err != nil {
			t.Error(err)
		}
		if alive := left(t, word); len(alive) > 0 {
			t.Errorf("alive: %v", alive)
		}
		e := &r.Evidence
		got := states(e)
		if want := []string{"userns", "mount", "uts", "cgroupns"}; e.Backend != Landlock || !slices.Equal(got[control.Absent], want) || len(got["no reason"]) > 0 || e.ProcessIsolated || !e.NetworkIsolated || !e.SeccompEnabled {
			t.Errorf("%s %v %+v", e.Backend, got, e)
		}
		for _, name := range []string{"ipc", "network", "privileges", "seccomp", "unix_sockets"} {
			if !slices.Contains(got[control.Enforced], name) {
				t.Errorf("%s is not enforced: %v", name, got)
			}
		}
	})
}

// TestLandlockBackendScratch: what a run leaves whose process was killed goes with the next; what another one uses does not.
func TestLandlockBackendScratch(t *testing.T) {
	needAlone(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	write(t, filepath.Join(dir, "ethos-scratch-1/left"), "x")
	write(t, filepath.Join(dir, "ethos-scratch-2/used"), "x")
	used, err := os.Open(filepath.Join(dir, "ethos-scratch-2"))
	if err == nil {
		err = syscall.Flock(int(used.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	spec := script(t, "echo mine > $TMPDIR/mine")
	spec.Backend = Landlock
	if r := execute(t, spec); r.err != nil || r.ExitCode != 0 {
		t.Errorf("%v %d %s", r.err, r.ExitCode, r.Stderr.Text)
	}
	scratch, _ := filepath.Glob(filepath.Join(dir, "ethos-scratch-*"))
	if !slices.Equal(scratch, []string{filepath.Join(dir, "ethos-scratch-2")}) {
		t.Errorf("%v", scratch)
	}
}

// TestLandlockBackendSession: the command is in a session of its own, also when nobody asks for it, so that it can join no process group of the caller's:
// setpgid(2). What is sent to ethos-sandbox ends it still.
func TestLandlockBackendSession(t *testing.T) {
	needAlone(t)
	spec := script(t, "sleep 10011.5 & wait")
	spec.Backend, spec.NewSession, spec.Timeout = Landlock, false, 20*time.Second
	signals := make(chan os.Signal, 1)
	signals <- syscall.SIGINT
	session, group := 0, 0
	out, err := Run(context.Background(), mustBuild(t, spec), IO{Signals: signals, Began: func(pid int) (err error) {
		if session, err = unix.Getsid(pid); err == nil {
			group, err = unix.Getpgid(pid)
		}
		if err == nil && (session != pid || group != pid) {
			t.Errorf("process %d is in session %d and group %d", pid, session, group)
		}
		return err
	}})
	if err != nil || session == 0 || out.Status != record.StatusSignaled || out.Signal != syscall.SIGINT {
		t.Errorf("%v, session %d, %s %v", err, session, out.Status, out.Signal)
	}
	if alive := left(t, "10011.5"); len(alive) > 0 {
		t.Errorf("alive: %v", alive)
	}
}

// TestLandlockBackendEnds: what holds a tree together without a PID namespace ends all of it.
func TestLandlockBackendEnds(t *testing.T) {
	needAlone(t)
	spec := script(t, "trap '' TERM HUP INT; setsid sleep 10008.5 & (setsid sleep 10008.5 &); while :; do (sleep 0.01 &); done")
	spec.Backend, spec.Timeout = Landlock, 300*time.Millisecond
	if r := execute(t, spec); r.err != nil || r.Status != record.StatusTimeout {
		t.Errorf("%v %s", r.err, r.Status)
	}
	if alive := left(t, "10008.5"); len(alive) > 0 {
		t.Errorf("alive: %v", alive)
	}
	spec = script(t, "kill -SEGV $$")
	spec.Backend = Landlock
	if r := execute(t, spec); r.err != nil || r.Status != record.StatusSignaled || r.Signal != syscall.SIGSEGV {
		t.Errorf("%v %s %v", r.err, r.Status, r.Signal)
	}
}

// TestLandlockBackendRefuses what it cannot hold, with a way out that is one.
func TestLandlockBackendRefuses(t *testing.T) {
	needAlone(t)
	base := script(t, "touch out/ran") // beside what is denied, nothing new can be made
	base.Backend = Landlock
	write(t, filepath.Join(base.Workspace, "keys/a.key"), "secret")
	write(t, filepath.Join(base.Workspace, "out/kept"), "")
	for name, c := range map[string]struct {
		ask, out func(s *Spec)
	}{
		"loopback":   {func(s *Spec) { s.Network.Mode = "loopback" }, func(s *Spec) { s.Network.Mode = "none" }},
		"proxy":      {func(s *Spec) { s.Network.Mode, s.Network.AllowDomains = "proxy", []string{"example.com"} }, func(s *Spec) { s.Network.Mode = "none" }},
		"ports":      {func(s *Spec) { s.Network.ConnectPorts = []string{"443"} }, func(s *Spec) { s.Network.Mode = "none" }},
		"view":       {func(s *Spec) { s.View = "copy-on-write" }, func(*Spec) {}},
		"socket":     {func(s *Spec) { s.UnixSockets = []string{"/run/x"} }, func(*Spec) {}},
		"deny-exec":  {func(s *Spec) { s.DenyExecPaths = []string{"keys"} }, func(*Spec) {}},
		"directory":  {func(s *Spec) { s.DenyReadPaths = []string{"keys"} }, func(s *Spec) { s.DenyReadPaths = []string{"keys/**/*.*"} }},
		"explain":    {func(s *Spec) { s.Explain = true }, func(*Spec) {}},
		"publish":    {func(s *Spec) { s.Publish = []string{"8080:80"} }, func(*Spec) {}},
		"no backend": {func(s *Spec) { s.Backend = "gvisor" }, func(*Spec) {}},
	} {
		spec, out := base, base
		c.ask(&spec)
		c.out(&out)
		_, err := Build(spec, HostFiles{}, os.Geteuid())
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
		if r := execute(t, out); r.err != nil || r.ExitCode != 0 {
			t.Errorf("%s: the way out: %v %d %s", name, r.err, r.ExitCode, r.Stderr.Text)
		}
	}
	spec := base
	spec.Require = []string{"mount"}
	if r := execute(t, spec); r.err == nil {
		t.Error("mount is required, and it ran")
	}
	if _, err := Start(context.Background(), mustBuild(t, base), IO{}); err == nil {
		t.Error("a session began")
	}
}

// TestLandlockBackendFaults makes calls of the set-up fail one by one. The command must never run.
func TestLandlockBackendFaults(t *testing.T) {
	needAlone(t)
	faultsOf(t, Landlock)
}

func faultsOf(t *testing.T, backend string) {
	spec := script(t, "echo ran > marker")
	spec.Backend = backend
	plan, marker := mustBuild(t, spec), filepath.Join(spec.Workspace, "marker")
	seen := map[string]bool{}
	for _, part := range []steps.Part{steps.PartInit, steps.PartCommand, steps.PartFinalize} {
		for i, done := 0, false; !done; i++ {
			var broken steps.Step
			r := &exec.Runner{Plan: plan, Tamper: func(c *steps.Program) {
				list := map[steps.Part][]steps.Step{steps.PartInit: c.Init, steps.PartCommand: c.Command, steps.PartFinalize: c.Finalize}[part]
				for i < len(list) && (list[i].Stage == "exec" || seen[list[i].Stage+list[i].Call]) {
					i++
				}
				if done = i >= len(list); !done {
					broken = list[i]
					seen[broken.Stage+broken.Call] = true
					list[i].Nr, list[i].Tolerate, list[i].Ignore = 9999, nil, nil
				}
			}}
			_, err := r.Run(context.Background())
			_, ran := os.Lstat(marker)
			os.Remove(marker)
			if fault := (*steps.StepError)(nil); !done && (ran == nil || !errors.As(err, &fault) || fault.Step.Call != broken.Call) {
				t.Errorf("%s %s: %v, marker %v", broken.Stage, broken.Call, err, ran == nil)
			}
		}
	}
	if len(seen) < 15 {
		t.Errorf("%d calls", len(seen))
	}
}

// TestNoBackend: nothing is isolated, and the evidence says of nothing that it is.
func TestNoBackend(t *testing.T) {
	spec := script(t, "cat ../outside; sleep 10009.5 & exit 5")
	spec.Backend = None
	write(t, filepath.Join(filepath.Dir(spec.Workspace), "outside"), "seen\n")
	r := execute(t, spec)
	if r.err != nil || r.ExitCode != 5 || r.Stdout.Text != "seen\n" {
		t.Fatalf("%v %d %q %s", r.err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
	e := &r.Evidence
	for _, name := range []string{"userns", "mount", "pid", "ipc", "uts", "cgroupns", "network", "privileges", "landlock", "seccomp", "unix_sockets"} {
		if !slices.Contains(states(e)[control.Absent], name) {
			t.Errorf("%s is not absent", name)
		}
	}
	if e.Backend != None || e.ProcessIsolated || e.NetworkIsolated || e.SeccompEnabled || len(e.ReadPaths)+len(e.WritePaths) > 0 {
		t.Errorf("%+v", e)
	}
	if alive := left(t, "10009.5"); len(alive) > 0 {
		t.Errorf("alive: %v", alive)
	}
}

// bounded is a machine with a ceiling.
type bounded struct {
	HostFiles
	most *ceiling.Ceiling
}

func (b bounded) Ceiling() (*ceiling.Ceiling, error) { return b.most, nil }

// TestBackendUnderCeiling: what an administrator bounds holds for each backend, or is refused.
func TestBackendUnderCeiling(t *testing.T) {
	most := &ceiling.Ceiling{Digest: "sha256:0", Require: []string{"seccomp"}}
	if err := json.Unmarshal([]byte(`{"timeout_seconds": 60}`), &most.Capabilities); err != nil {
		t.Fatal(err)
	}
	spec := script(t, "true")
	spec.Backend = Landlock
	p, err := Build(spec, bounded{most: most}, os.Geteuid())
	if err != nil || p.Network != "none" || p.Limits.Timeout != time.Minute || !slices.Contains(p.Require, "seccomp") {
		t.Errorf("%v %+v", err, p)
	}
	spec.Backend = None
	if _, err := Build(spec, bounded{most: most}, os.Geteuid()); err == nil {
		t.Error("a machine is bounded, and nothing would be held")
	}
}
