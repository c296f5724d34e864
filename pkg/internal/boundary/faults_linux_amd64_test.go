package boundary

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/faultinject"
	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/textdelta"
	"ethos/pkg/shorttest"
)

// faultHelper, set in the environment, makes this process the one that runs the
// program while calls fail: a faultRun as JSON.
const faultHelper = "ETHOS_TEST_FAULT_HELPER"

// faultUser is the user that runs the program when the tests run as root.
const faultUser = 65534

// faultSampled: of so many faults one is tried where not all are asked for, and
// one of the first of those calls that each part must have made.
const faultSampled = 311

// faultPatience is how long a run with a fault may take.
const faultPatience = time.Minute

// faultStatus is the exit status of the command.
const faultStatus = 7

// faultRun is how the program is run.
type faultRun struct {
	Program, Dir string
	Args, Env    []string
}

// faultReport is what a run came to.
type faultReport struct {
	Status int    // 128 and the number of a signal if that has killed it
	Says   string // its output
	Hangs  bool
	Stays  bool // a process has its output open
}

// faultCase is a way to run the program.
type faultCase struct {
	network  string
	fits     bool               // the preforked init is the one that is used
	expected map[string][]int32 // calls that each part must make, so that nothing passes without being tested
}

// faultCases are one run that the preforked init fits, and one that it does not,
// in which the supervisor ends it.
var faultCases = []faultCase{{"none", true, faultUsed}, {"host", false, faultEnded}}

// faultEnded are calls of the second one, until the preforked init has ended.
var faultEnded = map[string][]int32{
	partEntry:      faultUsed[partEntry],
	partBetween:    faultUsed[partBetween],
	partInit:       {unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_WRITE, unix.SYS_RECVMSG},
	partSupervisor: {unix.SYS_PPOLL, unix.SYS_RECVMSG, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_WAIT4},
}

// faultUsed are calls of the first one, until the command is executed.
var faultUsed = map[string][]int32{
	partEntry:      {unix.SYS_ARCH_PRCTL, unix.SYS_SOCKETPAIR, unix.SYS_SETSOCKOPT, unix.SYS_RT_SIGPROCMASK, unix.SYS_CLONE},
	partBetween:    {unix.SYS_CLONE},
	partInit:       {unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_WRITE, unix.SYS_RECVMSG, unix.SYS_FCNTL, unix.SYS_DUP3, unix.SYS_MMAP, unix.SYS_PRCTL, unix.SYS_MOUNT, unix.SYS_SIGNALFD4, unix.SYS_CLONE, unix.SYS_CLOSE_RANGE},
	partCommand:    {unix.SYS_PRCTL, unix.SYS_CAPSET, unix.SYS_SECCOMP, unix.SYS_EXECVE},
	partSupervisor: {unix.SYS_PRLIMIT64, unix.SYS_RT_SIGACTION, unix.SYS_PPOLL, unix.SYS_RECVMSG, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_WAIT4, unix.SYS_MEMFD_CREATE, unix.SYS_WRITE, unix.SYS_SENDMSG},
}

// TestPreforkFaults makes the system calls of the entry point, of the process in
// between, of the preforked init and its command until that is executed, and of
// the supervisor from when it delivers the calls to init, or ends that, fail in turn.
// Either the run is refused, and nothing has run and nothing is left, or the
// command is as confined as without the fault. What is less, the evidence says.
func TestPreforkFaults(t *testing.T) {
	if text := os.Getenv(faultHelper); text != "" {
		faultinject.Attend(faultinject.Runtime(), func() (func() any, error) { return faultAttend(text) })
		return
	}
	probetest.Need(t, probetest.UserNS, "command:unshare", "command:mount")
	for _, c := range shorttest.Sample(faultCases, 3) {
		t.Run("network "+c.network, func(t *testing.T) {
			if os.Geteuid() != 0 {
				tryFaults(t, c, nil)
				return
			}
			t.Run("root", func(t *testing.T) { tryFaults(t, c, nil) })
			t.Run("user", func(t *testing.T) { tryFaults(t, c, &syscall.Credential{Uid: faultUser, Gid: faultUser}) })
		})
	}
}

// faultAttend prepares a helper. Root keeps the right to gain privileges, so that
// it is the program that gives it up.
func faultAttend(text string) (func() any, error) {
	var r faultRun
	err := json.Unmarshal([]byte(text), &r)
	if os.Geteuid() != 0 {
		err = errors.Join(err, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	}
	return func() any { return r.once() }, err
}

// once runs the program.
func (r faultRun) once() (report faultReport) {
	cmd := exec.Command(r.Program, r.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.Dir, r.Env, 5*time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return faultReport{Says: err.Error()}
	}
	hung := time.AfterFunc(faultPatience, func() { _ = cmd.Process.Kill() })
	report.Stays = errors.Is(cmd.Wait(), exec.ErrWaitDelay)
	report.Hangs = !hung.Stop()
	report.Says = said.String()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if report.Status = status.ExitStatus(); status.Signaled() {
		report.Status = 128 + int(status.Signal())
	}
	return report
}

// outcomes count what came of the faults of one part.
type outcomes struct{ injected, refused, late, preforked int }

func tryFaults(t *testing.T, c faultCase, user *syscall.Credential) {
	f := startFaults(t, c, user)
	calls, all := f.baseline(t), os.Getenv(faultinject.All) != ""
	for i, call := range calls {
		if call.Nr == unix.SYS_RT_SIGACTION && call.N%21 != 1 { // some of 64 signals
			continue
		}
		for k, errno := range faultinject.Errnos(call.Nr) {
			if first := k == 0 && call.N == 1 && slices.Contains(f.expected[call.Role], call.Nr); all || first || (i*7+k)%faultSampled == 0 {
				f.fail(t, call, errno)
			}
		}
	}
	injected := 0
	for _, part := range slices.Sorted(maps.Keys(f.tried)) {
		n := f.tried[part]
		injected += n.injected
		t.Logf("%s: %d faults: %d refused, %d with a late init, %d with the preforked one", part, n.injected, n.refused, n.late, n.preforked)
	}
	enough := 12 // the least number of faults
	if all {
		enough = len(calls)
	}
	if injected < enough || f.missed > injected/4 {
		t.Errorf("%d faults injected into %d system calls, %d calls were not made again", injected, len(calls), f.missed)
	}
}

// baseline runs the program without a fault. It returns the calls to make fail.
func (f *faults) baseline(t *testing.T) []faultinject.Call {
	t.Helper()
	f.run(t, faultinject.Call{}, 0) // makes what later runs find
	r := f.run(t, faultinject.Call{}, 0)
	if r.Status != faultStatus || r.found == "" {
		t.Fatalf("without a fault: %+v: %s", r.faultReport, r.found)
	}
	probetest.NeedFunc(t, "prefork", func() string {
		if f.fits && r.late {
			return "init is cloned late, as it is into a cgroup of its own"
		}
		return ""
	})
	f.normal, f.files, f.mounts = r, f.tree(t), mounts(t)
	if open := f.unconfined(r.found); open != "" || len(r.controls) == 0 || r.late == f.fits {
		t.Errorf("without a fault: %s: %s", open, r.found)
	}
	for part, list := range f.expected {
		for _, nr := range list {
			if !slices.ContainsFunc(r.calls, func(c faultinject.Call) bool { return c.Role == part && c.Nr == nr }) {
				t.Errorf("the %s does not call %s", part, faultinject.CallName(nr))
			}
		}
	}
	if f.fits {
		return r.calls
	}
	return slices.DeleteFunc(r.calls, func(c faultinject.Call) bool { return !slices.Contains(f.expected[c.Role], c.Nr) }) // TestEverySystemCall has the others
}

// fail makes one call fail and judges what came of it.
func (f *faults) fail(t *testing.T, call faultinject.Call, errno syscall.Errno) {
	t.Helper()
	r := f.run(t, call, errno)
	if !r.met {
		f.missed++
		return
	}
	n := f.tried[call.Role]
	if n == nil {
		n = &outcomes{}
		f.tried[call.Role] = n
	}
	switch n.injected++; {
	case !r.began:
		n.refused++
	case r.late:
		n.late++
	default:
		n.preforked++
	}
	if wrong := f.wrong(call, errno, r); wrong != "" {
		t.Errorf("%v = %v (%s): %s\n\t%+v", call, errno, f.path, wrong, r.faultReport)
	}
	if after := f.tree(t); !slices.Equal(f.files, after) {
		t.Errorf("%v = %v: files before and after: %q", call, errno, textdelta.Lines(f.files, after))
	}
	if after := mounts(t); f.mounts != after {
		t.Errorf("%v = %v: mounts before and after: %q", call, errno, textdelta.Lines(strings.Split(f.mounts, "\n"), strings.Split(after, "\n")))
	}
	noneWith(t, f.base, f.mark)
}

// wrong says what is wrong about the outcome of a fault, or nothing.
func (f *faults) wrong(call faultinject.Call, errno syscall.Errno, r faultResult) string {
	switch {
	case r.Hangs:
		return "the program hangs"
	case r.Stays:
		return "a process outlives the program"
	case r.found != "" && f.unconfined(r.found) != "":
		return f.unconfined(r.found)
	case r.found != "" && r.found != f.normal.found && slices.Equal(r.controls, f.normal.controls):
		return fmt.Sprintf("the evidence is as ever, and the command finds %q", textdelta.Lines(strings.Split(f.normal.found, "\n"), strings.Split(r.found, "\n")))
	case r.began && r.Status == faultStatus && r.found != "":
		return ""
	case r.began && r.Status == 125 && call.Role == partSupervisor && (call.Nr == unix.SYS_PPOLL || call.Nr == unix.SYS_RECVMSG): // it had let the command go, and ended it
		return ""
	case r.began:
		return "the command ran, and its status is not that of the program: " + r.unfinished
	case call.Role == partEntry && call.Nr == unix.SYS_ARCH_PRCTL && r.Status == 128+int(syscall.SIGSEGV): // without it there is no thread, and the Go runtime would end the program in the same way
		return ""
	case r.Status != 125 && (call.Nr != unix.SYS_EXECVE || r.Status != 126):
		return "the command did not run, and the status is not 125"
	case !strings.HasPrefix(r.Says, "ethos-sandbox: error: "):
		return "no error"
	case !strings.Contains(r.Says, errno.Error()) && (call.Nr != unix.SYS_WRITE || f.path != "" && !strings.HasPrefix(f.path, "socket:")): // the report itself was not sent; only root may read where init writes
		return "the error does not name the reason"
	}
	return ""
}

// unconfined says which part of the boundary the command did not find, or
// nothing.
func (f *faults) unconfined(found string) string {
	for line, n := range map[string]int{"NoNewPrivs:\t1": 2, "Seccomp:\t2": 2, "Seccomp_filters:\t2": 1, "CapEff:\t0000000000000000": 2, "CapPrm:\t0000000000000000": 2, "CapBnd:\t0000000000000000": 1} {
		if strings.Count(found, line+"\n") < n { // of the command, and of init
			return "not " + line
		}
	}
	for _, line := range []string{
		"cat: denied: Permission denied", "cat: ../home/private: No such file", "cat: ../out/kept: No such file",
		"cannot create denied:", "cannot create ../out/new:", "cannot create /etc/ethos-test:", "cannot create directory", "unshare failed:", "mount: /tmp: ",
	} {
		if !strings.Contains(found, line) {
			return "no " + line
		}
	}
	_, interfaces, _ := strings.Cut(found, "carrier compressed\n")
	switch {
	case strings.Contains(found, "a secret"):
		return "a secret"
	case f.network == "none" && !strings.HasPrefix(interfaces, "    lo\nunshare") && !strings.Contains(found, "cut: /proc/net/dev: No such file"):
		return "a network"
	}
	return ""
}
