package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/exec"
	"ethos/pkg/sandbox/kernel/steps"
)

func TestRun(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, "id -u; pwd; echo $$; tr -d '\\0' </proc/1/cmdline; echo; hostname; echo made > made; echo said >&2; exit 3")
		r := execute(t, spec)
		if r.err != nil || r.Status != record.StatusExited || r.ExitCode != 3 {
			t.Fatalf("%v %s %d: %s", r.err, r.Status, r.ExitCode, r.Stderr.Text)
		}
		want := fmt.Sprintf("%d\n%s\n2\nethos-init\nsandbox\n", os.Getuid(), spec.Workspace)
		if r.Stdout.Text != want {
			t.Errorf("stdout %q, want %q", r.Stdout.Text, want)
		}
		if r.Stderr.Text != "said\n" {
			t.Errorf("stderr %q", r.Stderr.Text)
		}
		if text, err := os.ReadFile(filepath.Join(spec.Workspace, "made")); err != nil || string(text) != "made\n" {
			t.Errorf("the work space has %q, %v", text, err)
		}
		if left := names(t, spec.Workspace); !slices.Equal(left, []string{"made"}) {
			t.Errorf("the work space has %v", left)
		}
		for _, c := range r.Evidence.Controls {
			if c.State != control.Enforced && c.State != control.NotWanted && !weaker(c) {
				t.Errorf("control %s is %s: %s", c.Name, c.State, c.Reason)
			}
		}
	})
}

// weaker reports a layer that a machine may have only in part: no processes' limit for root, no cgroup, a Landlock before ABI 6, no keyctl(2) in a container.
func weaker(c record.Control) bool {
	return c.State == control.Degraded && (c.Name == "rlimits" && os.Geteuid() == 0 || c.Name == "cgroup" || c.Name == "privileges" && strings.Contains(c.Reason, "keyring") ||
		c.Name == "landlock" && regexp.MustCompile(`^ABI [1-5] does not know `).MatchString(c.Reason))
}

func TestEnds(t *testing.T) {
	twice(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			script string
			limits Limits
			status string
			code   int
			signal syscall.Signal
		}{
			"exit":             {"exit 200", Limits{}, record.StatusExited, 200, 0},
			"signal":           {"kill -SEGV $$", Limits{}, record.StatusSignaled, 0, syscall.SIGSEGV},
			"time":             {"sleep 1000", Limits{Timeout: 200 * time.Millisecond}, record.StatusTimeout, 0, syscall.SIGKILL},
			"ignores SIGTERM":  {"trap '' TERM INT HUP; while :; do sleep 1000; done", Limits{Timeout: 200 * time.Millisecond}, record.StatusTimeout, 0, syscall.SIGKILL},
			"outlived":         {"sleep 1000 & setsid sleep 1000 & exit 4", Limits{}, record.StatusExited, 4, 0},
			"double fork":      {"(setsid sh -c 'sleep 1000' >/dev/null 2>&1 &) ; exit 5", Limits{}, record.StatusExited, 5, 0},
			"reserved memory":  {reserve, Limits{MemoryBytes: 100 << 20}, record.StatusExited, 0, 0},
			"memory of a tree": {"for i in 1 2 3 4; do head -c 60M /dev/zero | tail -c 60M | sleep 1000 & done; wait", Limits{MemoryBytes: 100 << 20}, record.StatusOOM, 0, syscall.SIGKILL},
		} {
			t.Run(name, func(t *testing.T) {
				if c.script == reserve {
					probetest.Need(t, "command:python3")
				}
				spec := script(t, c.script)
				spec.Timeout, spec.MemoryBytes = c.limits.Timeout, c.limits.MemoryBytes
				r := execute(t, spec)
				if r.err != nil || r.Status != c.status || r.ExitCode != c.code || r.Signal != c.signal {
					t.Errorf("%v: %s %d %v, want %s %d %v\n%s", r.err, r.Status, r.ExitCode, r.Signal, c.status, c.code, c.signal, r.Stderr.Text)
				}
			})
		}
	})
}

// reserve maps 1 GiB, with MAP_NORESERVE, and uses a page of it.
const reserve = `/usr/bin/python3 -c 'import mmap; mmap.mmap(-1, 1 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)[0] = 1'`

func TestNotFound(t *testing.T) {
	dir, environ := workspace(t)
	write(t, filepath.Join(dir, "plain"), "text\n")
	write(t, filepath.Join(dir, "garbage"), "text\n")
	if err := os.Chmod(filepath.Join(dir, "garbage"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"no-such-command": CodeNotFound, "/no/such": CodeNotFound, "./sub/such": CodeNotFound, "./plain": CodeNotExec, "./garbage": CodeNotExec, dir: CodeNotExec,
	} {
		r := execute(t, Spec{Asked: capability.OnProfile(""), Argv: []string{name}, Dir: dir, Workspace: dir, Environ: environ, NewSession: true, CloseStdin: true})
		if got := (*Refusal)(nil); !errors.As(r.err, &got) || got.Code != want {
			t.Errorf("%s: %v, want %s", name, r.err, want)
		} else if want == CodeNotFound && !strings.HasPrefix(got.Error(), name+": ") {
			t.Errorf("%s: %v, which does not name it as it was given", name, got)
		}
	}
}

// TestFaults makes each kernel call of the set-up fail in turn. The command must never run.
func TestFaults(t *testing.T) {
	twice(t, func(t *testing.T) {
		spec := script(t, "echo ran > marker")
		write(t, filepath.Join(spec.Workspace, ".git/HEAD"), "ref: refs/heads/main\n")
		plan := mustBuild(t, spec)
		marker := filepath.Join(spec.Workspace, "marker")
		for _, part := range []steps.Part{steps.PartInit, steps.PartCommand, steps.PartFinalize} {
			for i := 0; ; i += stride() {
				r := &exec.Runner{Plan: plan}
				var broken steps.Step
				r.Tamper = func(c *steps.Program) {
					list := map[steps.Part][]steps.Step{steps.PartInit: c.Init, steps.PartCommand: c.Command, steps.PartFinalize: c.Finalize}[part]
					if i < len(list) && list[i].Stage != "exec" {
						broken = list[i]
						list[i].Nr, list[i].Tolerate, list[i].Ignore, list[i].Unless = 9999, nil, nil, 0
					}
				}
				_, err := r.Run(context.Background())
				if broken.Call == "" { // past the last step: it ran
					os.Remove(marker)
					break
				}
				_, statErr := os.Lstat(marker)
				if err == nil || statErr == nil {
					t.Fatalf("part %d, step %d, %s %s %s failed: error %v, marker %v", part, i, broken.Stage, broken.Call, broken.Object, err, statErr == nil)
				}
				if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code == "" {
					t.Errorf("step %d: %v is not a refusal", i, err)
				}
				var fault *steps.StepError
				if !errors.As(err, &fault) || fault.Errno != syscall.ENOSYS || fault.Step.Call != broken.Call || fault.Step.Object != broken.Object {
					t.Errorf("part %d, step %d is %s %s: reported as %v", part, i, broken.Call, broken.Object, err)
				}
				os.Remove(marker)
			}
		}
		if left := names(t, spec.Workspace); !slices.Equal(left, []string{".git"}) {
			t.Errorf("the work space has %v", left)
		}
		if left := names(t, filepath.Join(spec.Workspace, ".git")); !slices.Equal(left, []string{"HEAD", "coding-ethos"}) {
			t.Errorf(".git has %v", left)
		}
	})
}

// stride: all calls for the first user, a part of them for the second and in a short run.
func stride() int {
	if testing.Short() || os.Getenv(probetest.OneUser) != "" && os.Geteuid() != 0 {
		return 7
	}
	return 1
}

// TestVerify leaves a part of the set-up out, as a kernel would that takes a call and does nothing. What is read back must give it away.
func TestVerify(t *testing.T) {
	spec := script(t, "echo ran > marker")
	plan := mustBuild(t, spec)
	getpid := func(s *steps.Step) { s.Nr, s.Want = syscall.SYS_GETPID, 0 }
	for name, c := range map[string]struct {
		leave func(s steps.Step) bool
		want  string
	}{
		"no_new_privs": {func(s steps.Step) bool {
			return s.Stage == "seccomp" || s.Call == "landlock_restrict_self" || s.Object == "PR_SET_NO_NEW_PRIVS"
		}, "NoNewPrivs"},
		"capset":         {func(s steps.Step) bool { return s.Stage == "privileges" && s.Call == "capset" }, "Cap"},
		"bounding":       {func(s steps.Step) bool { return s.Object == "PR_CAPBSET_DROP" }, "CapBnd"},
		"seccomp":        {func(s steps.Step) bool { return s.Stage == "seccomp" }, "Seccomp"},
		"read-only root": {func(s steps.Step) bool { return s.Call == "mount_setattr" && s.Object == "/" }, "mount table"},
		"read-only /usr": {func(s steps.Step) bool { return s.Call == "mount_setattr" && s.Object == "/usr" }, "mount table"},
		"old root":       {func(s steps.Step) bool { return s.Call == "umount2" }, "mount table"},
		"loopback":       {func(s steps.Step) bool { return s.Call == "ioctl" }, "loopback"},
	} {
		r := &exec.Runner{Plan: plan, Tamper: func(p *steps.Program) {
			for _, list := range [][]steps.Step{p.Init, p.Command} {
				for i := range list {
					if c.leave(list[i]) {
						getpid(&list[i])
					}
				}
			}
		}}
		_, err := r.Run(context.Background())
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != CodeVerify || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(filepath.Join(spec.Workspace, "marker")); err == nil {
			t.Fatalf("%s: the command ran", name)
		}
	}
}

// TestRequire asks for each control where it cannot be had: nothing runs.
func TestRequire(t *testing.T) {
	spec := script(t, "echo ran > marker")
	spec.Require = []string{"output"} // nothing is bounded when the streams are passed through
	_, err := Run(context.Background(), mustBuild(t, spec), IO{})
	if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != CodeRequire || refusal.Hint == "" {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(spec.Workspace, "marker")); err == nil {
		t.Error("the command ran")
	}
}

// TestOutput: the memory of the supervisor stays flat, and all of it is counted.
func TestOutput(t *testing.T) {
	spec := script(t, "yes | head -c 64M")
	spec.OutputBytes = 1 << 20
	shown := 0
	out, got, err := RunCaptured(context.Background(), mustBuild(t, spec), func(_ string, piece []byte) { shown += len(piece) })
	if err != nil || out.ExitCode != 0 || got.Stdout.Bytes != 64<<20 || !got.Stdout.Truncated || len(got.Stdout.Text) > KeptBytes {
		t.Errorf("%v %d: %d bytes, truncated %v, kept %d", err, out.ExitCode, got.Stdout.Bytes, got.Stdout.Truncated, len(got.Stdout.Text))
	}
	if shown > 1<<20 {
		t.Errorf("%d bytes shown", shown)
	}
}

// TestCancel: the end of the context ends everything, and what was put into the work space is gone.
func TestCancel(t *testing.T) {
	spec := script(t, "echo up; sleep 1000")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out, _, err := RunCaptured(ctx, mustBuild(t, spec), func(string, []byte) { cancel() })
	if err != nil || out.Status != record.StatusSignaled {
		t.Errorf("%v: %s", err, out.Status)
	}
	if left := names(t, spec.Workspace); len(left) > 0 {
		t.Errorf("the work space has %v", left)
	}
}
