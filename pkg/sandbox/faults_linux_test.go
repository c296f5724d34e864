package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/internal/faultinject"
	"ethos/pkg/protected"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/steps"
)

// faultHelper, set in the environment, makes this process the one that runs the plan while calls fail: the plan's work space.
const faultHelper = "ETHOS_TEST_FAULT_HELPER"

// faultReport is what a run in the helper came to.
type faultReport struct {
	Error, Code        string
	Stage, Call        string // of the step that failed
	Errno              syscall.Errno
	Status             string
	ExitCode           int
	Degraded, Enforced []string          // controls
	Kept               map[string]string // where each path is that was put aside
}

// excuse is a kind of call whose failure changes nothing about the boundary, and why. All others must end the run before the command, or change what the evidence tells.
type excuse struct {
	role string
	nr   int32
	path string // is in the path that the call is about, or at its end if it ends in $
	why  string
}

const (
	polled      = "without notifications, protected names are polled"
	unreadState = "who cannot read the state of other runs cannot write any there either, which is a note"
	unreadSpace = "how the work space was before the command: what could not be looked at counts as new, and is looked at afterwards"
)

var excuses = []excuse{
	{"parent", unix.SYS_LANDLOCK_CREATE_RULESET, "", "the second one asks for the errata, for the report alone"},
	{"parent", unix.SYS_FCNTL, "", "the Go runtime asks for, and sets, the blocking mode of a file"},
	{"parent", unix.SYS_FSTAT, "", "the Go runtime asks for the size of a file and whether it can be polled"},
	{"parent", unix.SYS_GETRLIMIT, "", "where the descriptors of an overlay lie; it is tried, and fails aloud"},
	{"parent", unix.SYS_PRCTL, "", "the highest capability of the kernel; that no capability is left is read back"},
	{"parent", unix.SYS_PRLIMIT64, "", "the limit in force, which the plan's is not to exceed; the kernel does not let it be exceeded either"},
	{"parent", unix.SYS_NEWFSTATAT, "/usr/bin/sh", "which places of PATH are worth a try; execve has the last word"},
	{"parent", unix.SYS_NEWFSTATAT, "/dev/null$", "a device that cannot be looked at gets no rule of its own"},
	{"parent", unix.SYS_FACCESSAT, "", "a directory that is not known to be missing is taken for one that is there"},
	{"parent", unix.SYS_STATX, "", "what cannot be identified counts as new"},
	{"parent", unix.SYS_FSTATFS, "", "a file system that is not known is scanned without a memory, and a stream of unknown kind is no pipe"},
	{"parent", unix.SYS_GETGROUPS, "", "for a hint alone"},
	{"parent", unix.SYS_OPENAT, "/net/snmp", "what the command tried with the network, for the report alone"},
	{"parent", unix.SYS_CAPSET, "", "the thread that judges connections has none to judge, because the injector has the listener"},
	{"parent", unix.SYS_SIGNALFD4, "", polled},
	{"parent", unix.SYS_OPENAT, "/proc/self/fd/", polled},
	{"parent", unix.SYS_READ, "[signalfd]", "protected names are looked up as if something had been created"},
	{"parent", unix.SYS_READLINKAT, "/proc/self/fd/", "where an open file is: a terminal is not shared, and another file counts as new"},
	{"parent", unix.SYS_NEWFSTATAT, "/.local/state", "a folder of the state that cannot be looked at is made"},
	{"parent", unix.SYS_OPENAT, "/.local/state/ethos/", unreadState},
	{"parent", unix.SYS_GETDENTS64, "/.local/state/ethos/", unreadState},
	{"parent", 0, "/w$", unreadSpace},
	{"parent", unix.SYS_OPENAT2, "/w/.$", unreadSpace + "; " + polled},
	{"init", unix.SYS_CLOSE, "socket:", "close(2) frees the descriptor whatever it answers"},
	{"init", unix.SYS_RENAMEAT2, "coding-ethos/pool", "a placeholder that cannot be had from an earlier run is made anew"},
	{"parent", 0, "/.git", "how the repository was before the command: what could not be looked at counts as new, and is looked at afterwards"},
	{"parent", 0, "coding-ethos/cache", "the directories of a cache: what cannot be made ready is a note, what cannot be cleared is cleared by the next run"},
}

// excused returns why the failure of a call does not matter, or "".
func excused(call faultinject.Call, errno syscall.Errno, path string) string {
	if call.Role == "parent" && (errno == syscall.EINTR || errno == syscall.EAGAIN && call.Nr == unix.SYS_OPENAT2) {
		return "the parent makes a call again that was interrupted, or that is to be made again: openat2(2)"
	}
	kept := func(n protected.Name) bool { return strings.HasSuffix(path, "/w/"+n.Path) }
	if call.Role == "parent" && call.Nr == unix.SYS_OPENAT2 && (strings.HasSuffix(path, "/w/"+ethosDir) || slices.ContainsFunc(protected.Names(), kept)) {
		return "a protected name that cannot be looked up while init works is looked up again before the command"
	}
	for _, e := range excuses {
		if e.role == call.Role && (e.nr == 0 || e.nr == call.Nr) && strings.Contains(path+"$", e.path) {
			return e.why
		}
	}
	return ""
}

// TestEverySystemCall makes each system call of a run fail in turn, those of the parent as well as those of the child, found by listening to one run. The command must
// not run, and the error must say which step it was; where a step may fail the evidence must say so.
func TestEverySystemCall(t *testing.T) {
	if os.Getenv(faultHelper) != "" {
		runFaults(os.Getenv(faultHelper))
		return
	}
	twice(t, func(t *testing.T) {
		f := startFaults(t)
		f.run(t, faultinject.Call{}, 0) // makes what later runs find
		f.ran(t)
		normal := f.run(t, faultinject.Call{}, 0)
		if normal.Error != "" || !f.ran(t) {
			t.Fatalf("without a fault: %+v", normal)
		}
		calls := f.calls
		f.normal = normal
		for i, call := range calls {
			for k, errno := range faultinject.Errnos(call.Nr) {
				if os.Getenv(faultinject.All) != "" || (i*maxErrnos+k)%sampled == 0 {
					f.fail(t, call, errno)
				}
			}
		}
		for why, n := range f.excused {
			t.Logf("%d without effect: %s", n, why)
		}
		t.Logf("%d faults injected into %d system calls: %d ended the run, the others were tolerated", f.injected, len(calls), f.ended)
		if f.injected == 0 || f.missed > f.injected/4 {
			t.Errorf("%d faults injected, %d calls were not made again", f.injected, f.missed)
		}
	})
}

// sampled: of so many faults one is tried where not all are asked for.
const sampled = 197

// maxErrnos is how many errnos a call has at most.
const maxErrnos = 6

// fail makes one call fail and judges what came of it.
func (f *faults) fail(t *testing.T, call faultinject.Call, errno syscall.Errno) {
	t.Helper()
	report := f.run(t, call, errno)
	ran := f.ran(t)
	if !f.met {
		f.missed++
		return
	}
	f.injected++
	if report.Error != "" {
		f.ended++
	}
	switch fault := judgeFault(call, f.normal, report, ran, f.late); {
	case fault == unnoticed && call.Role == "parent" && os.Getenv(faultinject.All) == "":
		f.excused["whether the evidence tells of a fault of the parent is judged when all faults are tried"]++
	case fault == unnoticed && excused(call, errno, f.path) != "":
		f.excused[excused(call, errno, f.path)]++
	case fault != "":
		t.Errorf("%v = %v (%s): %s\n\t%+v", call, errno, f.path, fault, report)
	}
	f.left(t, call, report.Kept)
}

const unnoticed = "the command ran, and the evidence is as without the fault"

// judgeFault says what is wrong about the outcome of a fault, or nothing.
func judgeFault(call faultinject.Call, normal, r faultReport, ran, late bool) string {
	switch {
	case late: // the command was running already: what its parent still does is no part of the boundary
		return ""
	case r.Error != "" && ran:
		return "the command ran"
	case r.Error != "" && r.Code == "" && (call.Nr == unix.SYS_PPOLL || call.Nr == unix.SYS_RECVMSG) && call.Role == "parent": // it had let the command go, and ended it
		return ""
	case r.Error != "" && r.Code == "":
		return "the error is no refusal"
	case r.Error != "" && call.Nr == unix.SYS_WRITE && call.Role == "init" && strings.Contains(r.Error, "could not go on"): // the report itself was not sent
		return ""
	case r.Error != "" && call.Nr == unix.SYS_RT_SIGPROCMASK && call.Role == "init" && strings.Contains(r.Error, "killed by SIGSEGV"): // the Go runtime ends a child whose signals it cannot set: rtsigprocmask in runtime/sys_linux_amd64.s
		return ""
	case r.Error != "" && call.Role != "parent" && r.Stage == "" && r.Code == CodeSetup && !strings.Contains(r.Error, "set-up was killed"):
		return "the error does not name the stage"
	case r.Error != "":
		return ""
	case slices.Equal(normal.Degraded, r.Degraded):
		return unnoticed
	}
	return ""
}

// faults is a helper under an injector, and the work space in which it runs one plan again and again.
type faults struct {
	*faultinject.Helper
	faultRoles
	dir    string
	calls  []faultinject.Call
	met    bool // the call that was to fail was made
	before []string
	normal faultReport

	injected, ended, missed int
	excused                 map[string]int // by reason
}

func startFaults(t *testing.T) *faults {
	t.Helper()
	spec := repository(t, "true")
	t.Cleanup(func() { unlock(spec.Workspace) })
	f := &faults{dir: spec.Workspace, excused: map[string]int{}}
	f.before = f.tree(t)
	f.Helper = faultinject.Start(t, &f.faultRoles, "TestEverySystemCall", faultHelper+"="+f.dir, nil)
	return f
}

// run has the helper carry the plan out once, while one call fails.
func (f *faults) run(t *testing.T, call faultinject.Call, errno syscall.Errno) (r faultReport) {
	t.Helper()
	f.calls, f.met = f.Run(t, call, errno, &r)
	return r
}

// ran reports whether the command ran, and takes its marker away.
func (f *faults) ran(t *testing.T) bool {
	t.Helper()
	err := os.Remove(filepath.Join(f.dir, "marker"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// left looks for what a failed run left behind. What could not be removed because the removal was made to fail goes with the next run. A file of the
// repository that could not be read after the run is put aside, and the evidence says where it is: it is put back.
func (f *faults) left(t *testing.T, call faultinject.Call, kept map[string]string) {
	t.Helper()
	for path, at := range kept {
		if !slices.Contains(f.before, filepath.Base(path)) {
			continue // a placeholder
		}
		if err := os.Rename(at, path); err != nil {
			t.Errorf("%v: %v", call, err)
		}
	}
	after := f.tree(t)
	if !slices.Equal(f.before, after) && call.Role == "parent" {
		f.run(t, faultinject.Call{}, 0)
		f.ran(t)
		after = f.tree(t)
	}
	if !slices.Equal(f.before, after) {
		t.Errorf("%v: before %v, after %v", call, f.before, after)
	}
}

func (f *faults) tree(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(tree(t, f.dir), func(n string) bool { return n == ethosDir })
}

// runFaults is the helper.
func runFaults(dir string) {
	faultinject.Attend(unseen, func() (func() any, error) {
		plan, err := faultPlan(dir)
		return func() any {
			out, err := Run(context.Background(), plan, IO{})
			return reportOf(out, err)
		}, errors.Join(err, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	})
}

// faultPlan is a plan with something of every kind in it.
func faultPlan(dir string) (*Plan, error) {
	spec := Spec{Asked: capability.OnProfile(""), Argv: []string{"sh", "-c", "echo ran > marker"}, Dir: dir, Workspace: dir, NewSession: true, CloseStdin: true,
		Environ: []string{"HOME=" + filepath.Join(filepath.Dir(dir), "home"), "PATH=/usr/bin:/bin", "LANG=C"}}
	for _, d := range []string{"secret", "kept", "cache"} {
		if err := os.MkdirAll(filepath.Join(filepath.Dir(dir), "home", d), 0o755); err != nil {
			return nil, err
		}
	}
	spec.ReadPaths = []string{"~/kept"}
	spec.DenyReadPaths, spec.CachePaths = []string{"~/kept/none"}, []string{"~/cache"}
	plan, err := Build(spec, HostFiles{}, os.Geteuid())
	if err != nil {
		return nil, err
	}
	plan.Limits.Timeout = 20 * time.Second
	plan.Limits.MemoryBytes = 0 // the sampled watch makes calls at times of its own
	return plan, nil
}

func reportOf(out Outcome, err error) (r faultReport) {
	r.Status, r.ExitCode, r.Kept = out.Status, out.ExitCode, map[string]string{}
	for _, d := range out.Evidence.Denials {
		if d.Kept != "" {
			r.Kept[d.Path] = d.Kept
		}
	}
	for _, c := range out.Evidence.Controls {
		switch c.State {
		case control.Degraded:
			r.Degraded = append(r.Degraded, c.Name+": "+c.Reason)
		case control.Enforced:
			r.Enforced = append(r.Enforced, c.Name)
		}
	}
	var refusal *Refusal
	var step *steps.StepError
	var clone *steps.CloneError
	if err == nil {
		return r
	}
	r.Error = err.Error()
	if errors.As(err, &refusal) {
		r.Code = refusal.Code
	}
	if errors.As(err, &step) {
		r.Stage, r.Call, r.Errno = step.Step.Stage, step.Step.Call, step.Errno
	}
	if errors.As(err, &clone) {
		r.Stage, r.Call, r.Errno = "namespaces", clone.Call, clone.Errno
	}
	return r
}
