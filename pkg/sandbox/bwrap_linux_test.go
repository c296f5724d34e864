package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	sandboxexec "ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/kernel/steps"
)

// wrapped is a command for the backend bwrap.
func wrapped(t *testing.T, text string) Spec {
	t.Helper()
	probetest.Need(t, "command:bwrap")
	spec := script(t, text)
	spec.Backend = Bwrap
	return spec
}

// TestBwrapBackend: the command ends as it says, everything is enforced that does not depend on a cgroup, and nothing is left.
func TestBwrapBackend(t *testing.T) {
	needBwrap(t)
	twice(t, func(t *testing.T) {
		word := map[bool]string{true: "10013.1", false: "10013.2"}[os.Geteuid() == 0]
		spec := wrapped(t, `read line; echo "$line"; echo oh >&2; echo made > made; sleep `+word+` & setsid sleep `+word+` & exit 3`)
		spec.CloseStdin = false
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		fmt.Fprintln(out, "said")
		out.Close()
		var said, wrong bytes.Buffer
		r := piped(t, spec, in, &said, &wrong)
		if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 3 || said.String() != "said\n" || wrong.String() != "oh\n" {
			t.Fatalf("%v %s %d: %q %q", r.err, r.Status, r.ExitCode, said.String(), wrong.String())
		}
		if alive := left(t, word); len(alive) > 0 {
			t.Errorf("alive: %v", alive)
		}
		if got := names(t, spec.Workspace); !slices.Equal(got, []string{"made"}) {
			t.Errorf("in the work space: %v", got)
		}
		e, got := &r.Evidence, states(&r.Evidence)
		for _, name := range []string{"userns", "pid", "ipc", "uts", "cgroupns", "network", "privileges", "seccomp", "environment"} {
			if !slices.Contains(got[control.Enforced], name) {
				t.Errorf("%s is not enforced: %v", name, got)
			}
		}
		if e.Backend != Bwrap || !e.ProcessIsolated || !e.NetworkIsolated || !e.SeccompEnabled || len(got[control.Absent])+len(got["no reason"]) > 0 {
			t.Errorf("%s %v %+v", e.Backend, got, e)
		}
		if line := e.Controls[2]; line.Name != "mount" || !strings.Contains(line.Enforced, "by bubblewrap ") {
			t.Errorf("%+v", line)
		}
	})
}

// piped runs a command with its streams as pipes.
func piped(t *testing.T, spec Spec, in *os.File, streams ...*bytes.Buffer) (r result) {
	t.Helper()
	io, done := IO{Stdin: in}, make(chan error, len(streams))
	for i, to := range []**os.File{&io.Stdout, &io.Stderr} {
		from, end, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		*to = end
		go func() {
			_, err := streams[i].ReadFrom(from)
			done <- errors.Join(err, from.Close())
		}()
	}
	r.Outcome, r.err = Run(context.Background(), mustBuild(t, spec), io)
	io.Stdout.Close()
	io.Stderr.Close()
	for range streams {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return r
}

// TestBwrapBackendEnds: each end is reported as the native backend reports it.
func TestBwrapBackendEnds(t *testing.T) {
	needBwrap(t)
	twice(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			text   string
			limits Limits
			status string
			code   int
			signal syscall.Signal
		}{
			"status":           {"exit 137", Limits{}, record.StatusExited, 137, 0},
			"signal":           {"kill -SEGV $$", Limits{}, record.StatusSignaled, 0, syscall.SIGSEGV},
			"killed":           {"kill -KILL $$", Limits{}, record.StatusSignaled, 0, syscall.SIGKILL},
			"time":             {"setsid sleep 10014.5 & (setsid sleep 10014.5 &); trap '' TERM; while :; do sleep 10014.5; done", Limits{Timeout: 400 * time.Millisecond}, record.StatusTimeout, 0, syscall.SIGKILL},
			"memory":           {"for i in 1 2 3 4; do head -c 60M /dev/zero | tail -c 60M | sleep 1000 & done; wait", Limits{MemoryBytes: 100 << 20}, record.StatusOOM, 0, syscall.SIGKILL},
			"a full directory": {"head -c 90M /dev/zero > /tmp/x && exit 1; exit 0", Limits{MemoryBytes: 200 << 20}, record.StatusExited, 0, 0},
		} {
			spec := wrapped(t, c.text)
			p := mustBuild(t, spec)
			p.Limits.Timeout, p.Limits.MemoryBytes = c.limits.Timeout, c.limits.MemoryBytes
			p.ScratchBytes = c.limits.MemoryBytes
			out, _, err := RunCaptured(context.Background(), p, nil)
			if err != nil || out.Status != c.status || out.ExitCode != c.code || out.Signal != c.signal {
				t.Errorf("%s: %v %s %d %v", name, err, out.Status, out.ExitCode, out.Signal)
			}
		}
		if alive := left(t, "10014.5"); len(alive) > 0 {
			t.Errorf("alive: %v", alive)
		}
		signals := make(chan os.Signal, 1)
		out, err := Run(context.Background(), mustBuild(t, wrapped(t, "trap 'exit 9' INT; while :; do sleep 0.05; done")), IO{Signals: signals, Began: func(int) error {
			time.AfterFunc(500*time.Millisecond, func() { signals <- syscall.SIGINT })
			return nil
		}})
		if err != nil || out.Status != record.StatusExited || out.ExitCode != 9 {
			t.Errorf("a signal: %v %s %d", err, out.Status, out.ExitCode)
		}
	})
}

// TestBwrapBackendPids: the limit of processes counts the command's, and what is around it only as a reserve.
func TestBwrapBackendPids(t *testing.T) {
	needBwrap(t)
	probetest.Need(t, probetest.UserNS)
	twice(t, func(t *testing.T) {
		if os.Geteuid() == 0 { // the kernel does not apply RLIMIT_NPROC to root
			return
		}
		spec := wrapped(t, "for i in $(seq 200); do sleep 5 & done; exit 0")
		spec.Pids = 40
		if r := execute(t, spec); r.err != nil || r.ExitCode == 0 {
			t.Errorf("%v %d", r.err, r.ExitCode)
		}
		spec = wrapped(t, "for i in $(seq 30); do sleep 0.1 & done; wait")
		spec.Pids = 40
		if r := execute(t, spec); r.err != nil || r.ExitCode != 0 {
			t.Errorf("%v %d %s", r.err, r.ExitCode, r.Stderr.Text)
		}
	})
}

// TestBwrapBackendKilled: SIGKILL of the process that runs it, at any moment, leaves no process and no file.
func TestBwrapBackendKilled(t *testing.T) {
	needBwrap(t)
	const killed = "ETHOS_TEST_BWRAP_KILLED"
	if dir := os.Getenv(killed); dir != "" {
		t.Setenv("TMPDIR", filepath.Dir(dir)) // what this process cannot remove goes with its parent's
		spec := wrapped(t, "echo up > up; sleep 10015.5 & sleep 10015.5")
		spec.Dir, spec.Workspace = dir, dir
		execute(t, spec)
		return
	}
	twice(t, func(t *testing.T) {
		for i := range 8 {
			spec := wrapped(t, "")
			write(t, filepath.Join(spec.Workspace, ".git/HEAD"), "ref: refs/heads/m\n")
			write(t, filepath.Join(spec.Workspace, ".git/config"), "")
			before := names(t, spec.Workspace+"/.git")
			cmd := exec.Command("/proc/self/exe", "-test.run=^TestBwrapBackendKilled$")
			cmd.Env = append(os.Environ(), killed+"="+spec.Workspace)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for begin, up := time.Now(), false; i == 0 && !up; time.Sleep(10 * time.Millisecond) {
				if _, err := os.Stat(spec.Workspace + "/up"); err == nil {
					up = true
				} else if time.Since(begin) > time.Minute {
					_ = cmd.Process.Kill()
					t.Fatal("the command does not begin")
				}
			}
			time.Sleep(time.Duration(i*15) * time.Millisecond)
			cmd.Process.Kill()
			cmd.Wait()
			// A reading of /proc misses a process that was forked behind it by one that is gone now: three in a row say so.
			for empty, began := 0, time.Now(); empty < 3; time.Sleep(10 * time.Millisecond) {
				alive := append(left(t, "10015.5"), inside(t, spec.Workspace)...)
				if empty++; len(alive) > 0 {
					empty = 0
				}
				if len(alive) > 0 && time.Since(began) > 20*time.Second {
					t.Fatalf("alive: %v", alive)
				}
			}
			got := slices.DeleteFunc(names(t, spec.Workspace), func(name string) bool { return name == "up" })
			if !slices.Equal(got, []string{".git"}) || !slices.Equal(names(t, spec.Workspace+"/.git"), before) {
				t.Errorf("left: %v, %v", got, names(t, spec.Workspace+"/.git"))
			}
		}
	})
}

// TestBwrapBackendRefuses what it cannot hold, with a way out that is one.
func TestBwrapBackendRefuses(t *testing.T) {
	probetest.Need(t, probetest.UserNS)
	base := wrapped(t, "touch ran")
	write(t, filepath.Join(base.Workspace, "keys/a.key"), "secret")
	if err := os.Symlink("keys", filepath.Join(base.Workspace, "link")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ ask, out func(s *Spec) }{
		"proxy":     {func(s *Spec) { s.Network.Mode, s.Network.AllowDomains = "proxy", []string{"example.com"} }, func(s *Spec) { s.Network.Mode = "loopback" }},
		"view":      {func(s *Spec) { s.View = "copy-on-write" }, func(*Spec) {}},
		"deny-exec": {func(s *Spec) { s.DenyExecPaths = []string{"keys"} }, func(*Spec) {}},
		"missing":   {func(s *Spec) { s.DenyWritePaths = []string{"absent"} }, func(s *Spec) { s.DenyWritePaths = []string{"keys"} }},
		"link":      {func(s *Spec) { s.DenyReadPaths = []string{"link"} }, func(s *Spec) { s.DenyReadPaths = []string{"keys"} }},
		"explain":   {func(s *Spec) { s.Explain = true }, func(*Spec) {}},
		"publish":   {func(s *Spec) { s.Publish = []string{"8080:80"} }, func(*Spec) {}},
	} {
		spec, out := base, base
		c.ask(&spec)
		c.out(&out)
		p, err := Build(spec, HostFiles{}, os.Geteuid())
		if err == nil {
			_, err = Run(context.Background(), p, IO{})
		}
		refusal := (*Refusal)(nil)
		if _, ran := os.Lstat(base.Workspace + "/ran"); ran == nil || !errors.As(err, &refusal) || refusal.Hint == "" || refusal.Code != CodeUnsupported {
			t.Errorf("%s: %v", name, err)
		}
		if r := execute(t, out); r.err != nil || r.ExitCode != 0 {
			t.Errorf("%s: the way out: %v %d %s", name, r.err, r.ExitCode, r.Stderr.Text)
		}
		os.Remove(base.Workspace + "/ran")
	}
	if _, err := Start(context.Background(), mustBuild(t, base), IO{}); err == nil {
		t.Error("a session began")
	}
}

// onPath replaces PATH.
func onPath(spec *Spec, path string) {
	spec.Environ = append(slices.DeleteFunc(slices.Clone(spec.Environ), func(e string) bool { return strings.HasPrefix(e, "PATH=") }), "PATH="+path)
}

// TestBwrapBackendAlone: without a bubblewrap that can be trusted, nothing runs, and no other backend does it instead.
func TestBwrapBackendAlone(t *testing.T) {
	base := wrapped(t, "touch ran")
	planted := filepath.Join(base.Workspace, "bin")
	write(t, planted+"/bwrap", "#!/bin/sh\necho bubblewrap 0.9.0\n: > "+base.Workspace+"/planted\n")
	if err := os.Chmod(planted+"/bwrap", 0o755); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{"/nowhere": "not installed", planted: "is not used"} {
		spec := base
		onPath(&spec, path)
		_, err := Run(context.Background(), mustBuild(t, spec), IO{})
		refusal := (*Refusal)(nil)
		if !errors.As(err, &refusal) || refusal.Code != CodeUnsupported || refusal.Hint == "" || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := names(t, base.Workspace); !slices.Equal(got, []string{"bin"}) {
		t.Errorf("something ran: %v", got)
	}
}

// TestBwrapBackendFails: what a bubblewrap says that does not make what it was asked for is the error, and nothing runs.
func TestBwrapBackendFails(t *testing.T) {
	probetest.Need(t, probetest.Root)
	spec := wrapped(t, "touch ran")
	dir := rootsDir(t)
	write(t, dir+"/bwrap", "#!/bin/sh\ncase $1 in --version) echo bubblewrap 0.9.0;; *) echo bwrap: no permissions >&2; exit 1;; esac\n")
	if err := os.Chmod(dir+"/bwrap", 0o755); err != nil {
		t.Fatal(err)
	}
	onPath(&spec, dir+":/usr/bin:/bin")
	out, err := Run(context.Background(), mustBuild(t, spec), IO{})
	refusal := (*Refusal)(nil)
	if !errors.As(err, &refusal) || refusal.Code != CodeSetup || refusal.Hint == "" || err.Error() != "bwrap: no permissions" || len(states(&out.Evidence)[control.Enforced]) > 0 {
		t.Errorf("%v %+v", err, states(&out.Evidence))
	}
	if got := names(t, spec.Workspace); len(got) > 0 {
		t.Errorf("something ran: %v", got)
	}
}

// TestBwrapBackendFaults makes calls of the set-up fail one by one, inside of the namespaces that bubblewrap has made. The command must never run.
func TestBwrapBackendFaults(t *testing.T) {
	probetest.Need(t, probetest.UserNS, "command:bwrap")
	faultsOf(t, Bwrap)
}

// TestBwrapBackendSwapped: bubblewrap opens by its name what was looked at before. What has taken the place of it is not shown.
func TestBwrapBackendSwapped(t *testing.T) {
	for _, swaps := range []bool{true, false} {
		spec := wrapped(t, "touch ran; cat ../shown/f")
		shown := filepath.Join(filepath.Dir(spec.Workspace), "shown")
		write(t, shown+"/f", "mine\n")
		write(t, filepath.Join(filepath.Dir(spec.Workspace), "secret/f"), "seen\n")
		spec.ReadPaths = []string{shown}
		r := &sandboxexec.Runner{Plan: mustBuild(t, spec), Tamper: func(*steps.Program) {
			if swaps {
				if err := unix.Renameat2(unix.AT_FDCWD, shown, unix.AT_FDCWD, filepath.Join(filepath.Dir(shown), "secret"), unix.RENAME_EXCHANGE); err != nil {
					t.Error(err)
				}
			}
		}}
		out, err := r.Run(context.Background())
		refusal := (*Refusal)(nil)
		if refused := errors.As(err, &refusal) && refusal.Code == CodeVerify; refused != swaps || !swaps && out.ExitCode != 0 {
			t.Errorf("swapped %v: %v %d", swaps, err, out.ExitCode)
		}
		if _, err := os.Lstat(spec.Workspace + "/ran"); (err != nil) != swaps {
			t.Errorf("swapped %v: ran %v", swaps, err == nil)
		}
	}
}

// needBwrap stands before what makes a test run itself again, where a skip would not count as one.
func needBwrap(t *testing.T) {
	t.Helper()
	probetest.Need(t, "command:bwrap")
}

// TestBwrapBackendReceives: where the host's mounts are shared, the evidence says that new ones appear inside, and one that does ends the run.
func TestBwrapBackendReceives(t *testing.T) {
	needBwrap(t)
	withMounts(t, unix.MS_SHARED, func() {
		spec := wrapped(t, "true")
		if r := execute(t, spec); r.err != nil || r.ExitCode != 0 || !slices.Contains(states(&r.Evidence)[control.Degraded], "mount") {
			t.Errorf("%v %d %+v", r.err, r.ExitCode, states(&r.Evidence))
		}
		spec.Argv[2] = "while :; do sleep 0.05; done"
		spec.Timeout = 20 * time.Second
		below := filepath.Join(spec.Workspace, "below")
		write(t, below+"/f", "")
		out, err := Run(context.Background(), mustBuild(t, spec), IO{Began: func(int) error {
			time.AfterFunc(300*time.Millisecond, func() { unix.Mount("tmpfs", below, "tmpfs", 0, "") })
			return nil
		}})
		t.Cleanup(func() { unix.Unmount(below, unix.MNT_DETACH) })
		if err != nil || out.Status != record.StatusSignaled || !strings.Contains(out.Evidence.Reason, below) {
			t.Errorf("%v %s %q", err, out.Status, out.Evidence.Reason)
		}
	})
}

// rootsDir is a directory that only root can change, as all above it.
func rootsDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/lib", "ethos-test-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestBwrapBackendSetuid: where an ordinary user may not make a user namespace, one that has the set-user-ID bit makes the others, and the evidence says
// that the first is missing. The limit of the kernel is only feigned, because it is that of the whole machine.
func TestBwrapBackendSetuid(t *testing.T) {
	const inside = "ETHOS_TEST_BWRAP_SETUID"
	if dir := os.Getenv(inside); dir != "" {
		setuidInside(t, dir)
		return
	}
	probetest.Need(t, probetest.Root, probetest.UserNS, "command:bwrap", "command:unshare", "command:setpriv")
	real, err := exec.LookPath("bwrap")
	self, missing := os.Executable()
	if err := errors.Join(err, missing); err != nil {
		t.Fatal(err)
	}
	dir := rootsDir(t)
	write(t, dir+"/zero", "0\n")
	for name, from := range map[string]string{"bwrap": real, "test": self} {
		mustRun(t, exec.Command("cp", from, dir+"/"+name))
	}
	home, err := os.MkdirTemp("", "ethos-setuid-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	if err := errors.Join(os.Chown(home, ordinary, ordinary), os.Chmod(dir+"/test", 0o755), syscall.Chmod(dir+"/bwrap", 0o4755)); err != nil {
		t.Fatal(err)
	}
	id := strconv.Itoa(ordinary)
	cmd := exec.Command("unshare", "-m", "--propagation", "private", "sh", "-ec", "mount --bind "+dir+"/zero /proc/sys/user/max_user_namespaces; exec setpriv --reuid="+id+" --regid="+id+" --clear-groups "+dir+"/test -test.v -test.run='^TestBwrapBackendSetuid$'")
	cmd.Env = append(os.Environ(), inside+"="+dir, "HOME="+home, "TMPDIR="+home)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestBwrapBackendSetuid") {
		t.Errorf("%v\n%s", err, out)
	}
}

func setuidInside(t *testing.T, dir string) {
	spec := wrapped(t, "readlink /proc/self/ns/user; cat ../outside; touch /etc/x; sleep 10016.5 & exit 6")
	write(t, filepath.Join(filepath.Dir(spec.Workspace), "outside"), "seen\n")
	onPath(&spec, dir+":/usr/bin:/bin")
	r := execute(t, spec)
	own, err := os.Readlink("/proc/self/ns/user")
	if r.err != nil || err != nil || r.ExitCode != 6 || r.Stdout.Text != own+"\n" || len(left(t, "10016.5")) > 0 {
		t.Fatalf("%v %v %d %q %s", r.err, err, r.ExitCode, r.Stdout.Text, r.Stderr.Text)
	}
	got := states(&r.Evidence)
	if !slices.Equal(got[control.Absent], []string{"userns"}) || len(got["no reason"]) > 0 {
		t.Errorf("%v", got)
	}
	for _, name := range []string{"pid", "ipc", "uts", "cgroupns", "network", "privileges", "seccomp"} {
		if !slices.Contains(got[control.Enforced], name) {
			t.Errorf("%s is not enforced: %v", name, got)
		}
	}
	spec.Require = []string{"userns"}
	if r := execute(t, spec); r.err == nil {
		t.Error("a user namespace is required, and it ran")
	}
	text, err := json.Marshal(r.Evidence.Controls)
	t.Logf("%s %v", text, err)
}
