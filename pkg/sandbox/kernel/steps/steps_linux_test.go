package steps

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/internal/probetest"
)

// patience is how long a child may take on a machine with other things to do.
const patience = time.Minute

// call is a step without arguments that matter.
func call(name string, nr uintptr, args ...Arg) Step {
	s := Step{Stage: "test", Call: name, Nr: nr}
	copy(s.Args[:], args)
	return s
}

// shell is a program in a user namespace whose command is a script, with steps before it.
func shell(script string, command ...Step) *Program {
	command = append(command, RestoreSignals())
	command = append(command, Ready()...)
	exec := call("execve", unix.SYS_EXECVE, Str("/bin/sh"), Strings([]string{"sh", "-c", script}), Strings([]string{"PATH=/usr/bin:/bin"}))
	return &Program{CloneFlags: unix.CLONE_NEWUSER, Command: append(command, exec)}
}

// outcome is all that a child reported.
type outcome struct {
	status syscall.WaitStatus
	failed *StepError
	notes  []string
	gone   bool
}

// follow runs a program to its end. During says what to do when the command runs.
func follow(t *testing.T, p *Program, during func(*Process)) (o outcome) {
	t.Helper()
	probetest.Need(t, probetest.UserNS)
	proc, err := Start(p)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := proc.Wait(); err != nil {
			t.Error(err)
		}
	}()
	waiting, finalized := false, false
	for {
		event, err := proc.Next(time.Now().Add(patience))
		if err != nil {
			proc.Kill()
			t.Fatal(err)
		}
		switch event.Kind {
		case Note:
			o.notes = append(o.notes, event.Err.Error())
		case Failed:
			errors.As(event.Err, &o.failed)
			return o
		case Waiting:
			waiting = true
		case Finalized:
			finalized = true
		case Exited:
			o.status = event.Status
			return o
		case Gone:
			o.gone = true
			return o
		case Idle:
			proc.Kill()
			t.Fatal("the child hangs")
		}
		if waiting && finalized {
			waiting = false
			if err := proc.Go(); err != nil {
				t.Error(err)
			}
			if during != nil {
				during(proc)
			}
		}
	}
}

func TestEnds(t *testing.T) {
	for script, want := range map[string]string{"exit 7": "exit 7", "kill -SEGV $$": "signal 11", "sleep 1000 & setsid sleep 1000 & exit 3": "exit 3", "echo $$ | grep -qx 2": "exit 0"} {
		o := follow(t, shell(script), nil)
		got := fmt.Sprintf("exit %d", o.status.ExitStatus())
		if o.status.Signaled() {
			got = fmt.Sprintf("signal %d", o.status.Signal())
		}
		if got != want || o.failed != nil {
			t.Errorf("%s: %s, %+v", script, got, o)
		}
	}
}

// TestSteps: what a step does with its result and its errno. Each row ends with the notes and the call that failed, "" for a command that ran.
func TestSteps(t *testing.T) {
	var slots Slots
	const bad = 1 << 20 // a descriptor that nobody has
	closeBad := func(change func(*Step)) Step {
		s := call("close", unix.SYS_CLOSE, Int(bad))
		change(&s)
		return s
	}
	number := func() Step { s := call("getppid", unix.SYS_GETPID); return s } // 2 inside
	ebadf := []syscall.Errno{syscall.EBADF}
	for name, c := range map[string]struct {
		steps  func() []Step
		notes  int
		failed string
		errno  syscall.Errno
	}{
		"fails":         {func() []Step { return []Step{closeBad(func(*Step) {})} }, 0, "close", syscall.EBADF},
		"is tolerated":  {func() []Step { return []Step{closeBad(func(s *Step) { s.Tolerate = ebadf })} }, 1, "", 0},
		"is ignored":    {func() []Step { return []Step{closeBad(func(s *Step) { s.Ignore = ebadf })} }, 0, "", 0},
		"another errno": {func() []Step { return []Step{closeBad(func(s *Step) { s.Ignore = []syscall.Errno{syscall.EIO} })} }, 0, "close", syscall.EBADF},
		"skips what follows": {func() []Step {
			return []Step{closeBad(func(s *Step) { s.Ignore, s.Skip = ebadf, 1 }), closeBad(func(*Step) {})}
		}, 0, "", 0},
		"skips no more": {func() []Step {
			return []Step{closeBad(func(s *Step) { s.Ignore, s.Skip = ebadf, 1 }), number(), closeBad(func(s *Step) { s.Call = "third" })}
		}, 0, "third", syscall.EBADF},
		"unless there is a result": {func() []Step {
			have := slots.New()
			first := number()
			first.Save = have
			return []Step{first, closeBad(func(s *Step) { s.Unless = have })}
		}, 0, "", 0},
		"unless there was none": {func() []Step {
			none := slots.New()
			return []Step{closeBad(func(s *Step) { s.Ignore, s.Save = ebadf, none }), closeBad(func(s *Step) { s.Call, s.Unless = "second", none })}
		}, 0, "second", syscall.EBADF},
		"the result is wrong": {func() []Step { s := number(); s.Want = 77; return []Step{s} }, 0, "getppid", syscall.EPROTO},
		"the result is right": {func() []Step { s := number(); s.Want = 2; return []Step{s} }, 0, "", 0},
		"a result is an argument": {func() []Step {
			fd := slots.New()
			open := call("open", unix.SYS_OPENAT, Int(unix.AT_FDCWD), Str("/dev/null"), Int(unix.O_RDONLY))
			open.Save = fd
			return []Step{open, call("close", unix.SYS_CLOSE, From(fd)), call("again", unix.SYS_CLOSE, From(fd))}
		}, 0, "again", syscall.EBADF},
	} {
		o := follow(t, shell("exit 0", c.steps()...), nil)
		failed, errno := "", syscall.Errno(0)
		if o.failed != nil {
			failed, errno = o.failed.Step.Call, o.failed.Errno
		}
		if failed != c.failed || errno != c.errno || len(o.notes) != c.notes || o.gone || o.status != 0 {
			t.Errorf("%s: failed %q %v, notes %q, %+v", name, failed, errno, o.notes, o)
		}
	}
}

// TestParts: a step that fails in any part keeps the command from running, and what init has made is taken away.
func TestParts(t *testing.T) {
	for _, part := range []Part{PartInit, PartCommand, PartFinalize} {
		dir := t.TempDir()
		made, marker := filepath.Join(dir, "made"), filepath.Join(dir, "marker")
		p := shell("echo > " + marker)
		p.Init = []Step{call("mkdirat", unix.SYS_MKDIRAT, Int(unix.AT_FDCWD), Str(made), Int(0o700))}
		p.Cleanup = []Step{call("unlinkat", unix.SYS_UNLINKAT, Int(unix.AT_FDCWD), Str(made), Int(unix.AT_REMOVEDIR))}
		bad := call("close", unix.SYS_CLOSE, Int(1<<20))
		switch part {
		case PartInit:
			p.Init = append(p.Init, bad)
		case PartCommand:
			p.Command = append([]Step{bad}, p.Command...)
		case PartFinalize:
			p.Finalize = []Step{bad}
		}
		o := follow(t, p, nil)
		if o.failed == nil || o.failed.Part != part || o.failed.Errno != syscall.EBADF {
			t.Errorf("part %d: %+v", part, o)
		}
		if _, err := os.Lstat(marker); err == nil {
			t.Errorf("part %d: the command ran", part)
		}
		if _, err := os.Lstat(made); err == nil && part != PartCommand { // the parent asks for it then: End
			t.Errorf("part %d: what init made is still there", part)
		}
	}
}

// TestEndCleansUp: asked to end, init ends everything and cleans up; killed, it leaves that to the parent.
func TestEndCleansUp(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*Process) error
		left bool
	}{"End": {(*Process).End, false}, "Kill": {(*Process).Kill, true}} {
		made := filepath.Join(t.TempDir(), "made")
		p := shell("trap '' TERM HUP INT; while :; do sleep 1000; done")
		p.Init = []Step{call("mkdirat", unix.SYS_MKDIRAT, Int(unix.AT_FDCWD), Str(made), Int(0o700))}
		p.Cleanup = []Step{call("unlinkat", unix.SYS_UNLINKAT, Int(unix.AT_FDCWD), Str(made), Int(unix.AT_REMOVEDIR))}
		o := follow(t, p, func(proc *Process) {
			if err := c.end(proc); err != nil {
				t.Error(err)
			}
		})
		if _, err := os.Lstat(made); !o.gone || (err == nil) != c.left {
			t.Errorf("%s: %+v, left behind: %v", name, o, err == nil)
		}
	}
}

// TestRefusedWait: an init that the kernel does not let wait ends, and everything
// with it.
func TestRefusedWait(t *testing.T) {
	p := shell("exec sleep 1000")
	refuse := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PPOLL, Jf: 1},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}, {Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	p.Finalize = []Step{
		call("prctl", unix.SYS_PRCTL, Int(unix.PR_SET_NO_NEW_PRIVS), Int(1), Int(0), Int(0), Int(0)),
		call("seccomp", unix.SYS_SECCOMP, Int(unix.SECCOMP_SET_MODE_FILTER), Int(0), Filter(&unix.SockFprog{Len: uint16(len(refuse)), Filter: &refuse[0]})),
	}
	if o := follow(t, p, nil); !o.gone {
		t.Errorf("it went on: %+v", o)
	}
}

// TestSignals: what is sent to init reaches the command; init itself is not to be stirred by it.
func TestSignals(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	p := shell("trap 'exit 9' USR1; : > " + ready + "; while :; do sleep 0.01; done")
	o := follow(t, p, func(proc *Process) {
		appears(ready)
		if err := proc.Signal(syscall.SIGUSR1); err != nil {
			t.Error(err)
		}
	})
	if o.status.ExitStatus() != 9 {
		t.Errorf("%+v", o)
	}
}

// appears waits until a file exists.
func appears(path string) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Lstat(path); err == nil {
			return
		}
	}
}

// TestLateAnswer: what init has stopped after StopAll gave up is continued.
func TestLateAnswer(t *testing.T) {
	dir := t.TempDir()
	ready, leave := filepath.Join(dir, "ready"), filepath.Join(dir, "leave")
	p := shell(": > " + ready + "; until [ -e " + leave + " ]; do sleep 0.01; done; exit 9")
	o := follow(t, p, func(proc *Process) {
		appears(ready)
		for proc.StopAll(0) == nil { // it answered at once
			if err := proc.Signal(syscall.SIGCONT); err != nil {
				t.Error(err)
			}
		}
		if err := os.WriteFile(leave, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if o.status.ExitStatus() != 9 {
		t.Errorf("%+v", o)
	}
}

// TestDescriptors: init gives up every descriptor but its own and those it was told to keep.
func TestDescriptors(t *testing.T) {
	leaked, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer leaked.Close()
	var slots Slots
	keep := slots.New()
	p := shell("sleep 1000")
	dup := call("fcntl", unix.SYS_FCNTL, Int(int(leaked.Fd())), Int(unix.F_DUPFD_CLOEXEC), Int(700))
	dup.Save = keep
	p.Init, p.Keep = []Step{dup}, []Slot{keep}
	var have []string
	follow(t, p, func(proc *Process) {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", proc.PID))
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			have = append(have, e.Name())
		}
		proc.Kill()
	})
	if len(have) != 3 || !slices.Contains(have, "700") { // the channel, the signals, and what is kept
		t.Errorf("init has the descriptors %s", strings.Join(have, " "))
	}
}

// TestRefusedClone: nothing is started, and the error has the flags and the errno.
func TestRefusedClone(t *testing.T) {
	_, err := Start(&Program{CloneFlags: unix.CLONE_NEWUSER | unix.CLONE_FS}) // clone(2): EINVAL
	if fault := (*CloneError)(nil); !errors.As(err, &fault) || fault.Errno != syscall.EINVAL || fault.Flags&unix.CLONE_NEWUSER == 0 {
		t.Errorf("%v", err)
	}
}

// TestFate: init that ends without its last message is told from one that was asked to: killed, and with a message that nobody could take.
func TestFate(t *testing.T) {
	for name, c := range map[string]struct {
		during func(*Process) error
		want   Fate
		says   string
	}{
		"killed":            {(*Process).Kill, Fate{Signal: syscall.SIGKILL}, "was killed by SIGKILL"},
		"asked":             {(*Process).End, Fate{Status: failedStatus}, "was told to end"},
		"a message is lost": {func(p *Process) error { return unix.Shutdown(p.channel, unix.SHUT_RD) }, Fate{Status: unheardStatus}, "last message of the init of the sandbox was lost"},
	} {
		o := follow(t, shell("sleep 0.2"), func(proc *Process) {
			if err := c.during(proc); err != nil {
				t.Error(err)
			}
			fate, err := proc.Fate(time.Now().Add(patience))
			if err != nil || fate != c.want || !strings.Contains(fate.String(), c.says) {
				t.Errorf("%s: %+v (%s), %v", name, fate, fate, err)
			}
		})
		if !o.gone {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// TestForgedSignal: a signal in which the command wrote another sender than itself does not end init.
func TestForgedSignal(t *testing.T) {
	info := make([]byte, 128) // siginfo: si_signo, si_errno, si_code SI_QUEUE, si_pid 0
	binary.NativeEndian.PutUint32(info, uint32(ParentDied))
	binary.NativeEndian.PutUint32(info[8:], ^uint32(0))
	forge := call("rt_sigqueueinfo", unix.SYS_RT_SIGQUEUEINFO, Int(1), Int(int(ParentDied)), Buf(info))
	if o := follow(t, shell("sleep 0.2; exit 7", forge), nil); o.status.ExitStatus() != 7 || o.gone {
		t.Errorf("%+v", o)
	}
	if o := follow(t, shell("sleep 1000"), func(p *Process) { p.Signal(ParentDied) }); !o.gone { // the same from outside
		t.Errorf("%+v", o)
	}
}

// TestHand: a descriptor that the child opened inside of its namespaces arrives, and is the child's own.
func TestHand(t *testing.T) {
	var slots Slots
	fd := slots.New()
	p := shell("exit 0")
	open := call("openat", unix.SYS_OPENAT, Int(unix.AT_FDCWD), Str("/proc/self/setgroups"), Int(unix.O_RDONLY|unix.O_CLOEXEC))
	open.Save = fd
	p.Init = []Step{open, Hand(42, fd), call("close", unix.SYS_CLOSE, From(fd))}
	probetest.Need(t, probetest.UserNS)
	proc, err := Start(p)
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Wait()
	defer proc.Kill()
	event, err := proc.Next(time.Now().Add(patience))
	if err != nil || event.Kind != Handed || event.What != 42 {
		t.Fatalf("%+v, %v", event, err)
	}
	defer unix.Close(event.FD)
	text := make([]byte, 16)
	n, err := unix.Read(event.FD, text) // "allow" is what a new user namespace begins with
	if err != nil || string(text[:n]) != "allow\n" {
		t.Errorf("%q, %v", text[:n], err)
	}
	if flags, err := unix.FcntlInt(uintptr(event.FD), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
}
