package control

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
)

// terminal is the caller's controlling terminal, when the command shares it. The command has a process group of its own, as a job of a shell has, so that
// neither kill(0) nor the terminal's signals cross the boundary; so the terminal has to be given to that group, and taken back.
type terminal struct {
	*Job
	file  *os.File // nil where there is none to share
	ours  int      // our process group
	group int      // the command's, in our PID namespace
}

func (t *terminal) Name() string { return "terminal" }

// console is where the terminal of the command's streams is inside: by its own
// name it lies in another devpts(5). Programs that ask for the name of their
// terminal search /dev for it: ttyname(3).
const console = "/dev/console"

// Prepare shows the terminal, where a stream is one and is open for reading and
// writing: the command has no more by its name than by the stream.
func (t *terminal) Prepare(context.Context) error {
	for _, fd := range t.Streams {
		path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err != nil || filepath.Dir(path) != "/dev/pts" {
			continue
		}
		var there, opened unix.Stat_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || unix.Lstat(path, &there) != nil || unix.Fstat(fd, &opened) != nil {
			continue
		}
		if there.Mode&unix.S_IFMT != unix.S_IFCHR || there.Dev != opened.Dev || there.Ino != opened.Ino || there.Rdev != opened.Rdev || there.Uid != uint32(os.Geteuid()) {
			continue
		}
		t.Mounts = append(t.Mounts, mount.Mount{Kind: mount.Bind, Target: console, Source: path, Writable: true, File: true, Device: true, Why: "the terminal"})
		mount.Sort(t.Mounts)
		return nil
	}
	return nil
}

// Steps give the command a session or a process group of its own.
func (t *terminal) Steps(at Phase, p *Program) {
	switch {
	case at != Session:
	case t.Plan.NewSession:
		p.Command = append(p.Command, step("terminal", "setsid", unix.SYS_SETSID, ""))
	default:
		p.Command = append(p.Command, step("terminal", "setpgid", unix.SYS_SETPGID, "", steps.Int(0), steps.Int(0)))
	}
}

// Begin gives the terminal to the command when we have it: when this process is in the foreground, and its standard output is the terminal.
// A command whose output goes elsewhere gets the terminal when it first asks for it; until then a pager further down the pipe may use it.
func (t *terminal) Begin(pid int) error {
	if t.Plan.NewSession {
		return nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	t.file, t.ours, t.group = tty, unix.Getpgrp(), pid
	if t.IO.Stdout != nil && isTerminal(t.IO.Stdout) && t.foreground() == t.ours {
		t.give()
	}
	return nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

func (t *terminal) give() { t.set(t.group) }

// set changes the foreground group. The thread is the one tied to the child; it blocks SIGTTOU for the call, which a background process gets: tcsetpgrp(3).
func (t *terminal) set(group int) {
	block := unix.Sigset_t{}
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	var old unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old) != nil {
		return
	}
	_ = unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group) // a terminal that hung up has no foreground
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
}

// Stopped does what a shell does with a stopped job. A command that stopped because it wants the terminal gets it, if we have it to give; one that was
// stopped by the user stops us, and goes on when we do.
func (t *terminal) Stopped(sig syscall.Signal, proc *steps.Process) {
	if t.file == nil {
		return
	}
	if (sig == syscall.SIGTTIN || sig == syscall.SIGTTOU) && t.granted() {
		proc.Signal(syscall.SIGCONT)
		return
	}
	if sig == syscall.SIGSTOP { // from inside, or meant for the command alone
		return
	}
	if t.foreground() < 0 || orphaned() { // nobody would ever continue us
		if sig != syscall.SIGTSTP { // it wants a terminal that it will not get
			proc.Signal(syscall.SIGHUP)
		}
		proc.Signal(syscall.SIGCONT)
		return
	}
	had := t.foreground() == t.group
	if had {
		t.set(t.ours)
	}
	stopSelf()
	if t.foreground() == t.ours {
		t.give()
	}
	proc.Signal(syscall.SIGCONT)
}

// granted reports whether the command has the terminal, which it gets when we have it to give. It may have it already: fg continues the command as well as us, and it may
// have asked before we gave.
func (t *terminal) granted() bool {
	switch t.foreground() {
	case t.ours:
		t.give()
		return true
	case t.group:
		return true
	}
	return false
}

// orphaned reports whether no shell looks after our process group: whether no parent of a process in it is in another group of the session. Such a group is not
// stopped: setpgid(2), "orphaned process group".
func orphaned() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for _, pid := range []int{os.Getpid(), group} {
		parent := parentOf(pid)
		if sid, err := unix.Getsid(parent); parent <= 0 || err != nil || sid != session {
			continue
		}
		if at, err := unix.Getpgid(parent); err == nil && at != group {
			return false
		}
	}
	return true
}

// parentOf is the fourth field of proc_pid_stat(5), after a name that may contain anything.
func parentOf(pid int) int {
	text, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// stopSelf stops our process group, as the terminal would have; it returns when somebody continues us. We come last, by a signal to this very thread, which
// it acts on before it goes on: one to the process or its group can be taken by another thread, while this one looks at the terminal already and sees that
// nobody has given it yet. The thread is the one tied to the child.
func stopSelf() {
	group, own := unix.Getpgrp(), os.Getpid()
	entries, _ := os.ReadDir("/proc") // without it we stop alone, and the shell continues the group
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != own {
			if at, err := unix.Getpgid(pid); err == nil && at == group {
				_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended, or have become another user's
			}
		}
	}
	_ = unix.Tgkill(own, unix.Gettid(), unix.SIGSTOP) // to itself it is always allowed
}

// End takes the terminal back when the command still has it.
func (t *terminal) End() {
	if t.file == nil {
		return
	}
	if t.foreground() == t.group {
		t.set(t.ours)
	}
	t.file.Close()
}
