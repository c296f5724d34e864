package control

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
)

// terminal is the caller's controlling terminal, if the command shares it. Like a shell
// job, the command has its own process group, so that neither kill(0) nor the terminal's
// signals cross the boundary. The terminal must therefore be given to that group and taken
// back.
type terminal struct {
	*Job
	defaults
	file  *os.File // nil if there is no terminal to share
	ours  int      // this process's group
	group int      // the command's group, in this process's PID namespace
	taken bool     // a terminal among the streams was exclusive before
}

// console is the path inside of the terminal of the command's streams; its own name belongs
// to another devpts(5). Programs that ask for the name of their terminal search /dev for
// it: ttyname(3).
const console = "/dev/console"

// Prepare adds a mount of the terminal if a stream is one and is open for reading and
// writing. The name then gives the command no more access than the stream.
func (t *terminal) Prepare(context.Context) error {
	for _, fd := range t.Streams {
		var there, opened unix.Stat_t
		if unix.Fstat(fd, &opened) != nil || opened.Mode&unix.S_IFMT != unix.S_IFCHR || !isPTY(opened.Rdev) {
			continue
		}
		path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		if err != nil || filepath.Dir(path) != "/dev/pts" {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR || unix.Lstat(path, &there) != nil {
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

// isPTY reports whether a device is a pseudoterminal: UNIX98_PTY_SLAVE_MAJOR in
// linux/major.h, with eight numbers.
func isPTY(device uint64) bool { return unix.Major(device)&^7 == 136 }

// Steps give the command its own session or process group.
func (t *terminal) Steps(at Phase, p *Program) {
	switch {
	case at != Session:
	case t.Plan.NewSession:
		p.Command = append(p.Command, step("terminal", "setsid", unix.SYS_SETSID, ""))
	default:
		p.Command = append(p.Command, step("terminal", "setpgid", unix.SYS_SETPGID, "", steps.Int(0), steps.Int(0)))
	}
}

// Begin gives the terminal to the command if this process is in the foreground and its
// standard output is the terminal. A command whose output goes elsewhere gets the terminal
// when it first asks for it, because until then a pager further down the pipe may use it.
func (t *terminal) Begin(pid int) error {
	t.taken = slices.ContainsFunc(t.Streams[:], exclusive)
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

// set changes the foreground process group. It blocks SIGTTOU during the call, which a
// background process would otherwise get: tcsetpgrp(3). It runs on the thread that is tied
// to the child.
func (t *terminal) set(group int) {
	block := unix.Sigset_t{}
	block.Val[0] = 1 << (unix.SIGTTOU - 1)
	var old unix.Sigset_t
	if unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old) != nil {
		return
	}
	_ = unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group) // fails if the terminal has hung up
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
}

// Stopped does what a shell does with a stopped job. A command that stopped because it
// wants the terminal gets it, if this process has it. If the user stopped the command, this
// process stops too, and continues the command when it is continued itself. First it stops
// what else runs inside: nobody would enforce time limits or protected names meanwhile, and
// any process inside can send the signal that the user's key sends.
func (t *terminal) Stopped(sig syscall.Signal, proc *steps.Process) {
	if t.file == nil {
		return
	}
	if (sig == syscall.SIGTTIN || sig == syscall.SIGTTOU) && t.granted() {
		proc.Signal(syscall.SIGCONT)
		return
	}
	if sig == syscall.SIGSTOP { // sent from inside, or meant for the command only
		return
	}
	if t.foreground() < 0 || orphaned() { // nobody would ever continue this process
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
	if proc.StopAll(stopLimit) == nil {
		stopSelf()
	}
	if t.foreground() == t.ours {
		t.give()
	}
	proc.Signal(syscall.SIGCONT)
}

// stopLimit is how long init may take to stop everything. After that the command is continued
// instead.
const stopLimit = 5 * time.Second

// granted reports whether the command has the terminal, and gives it to the command if this
// process has it. The command may have it already: fg continues the command as well as this
// process, and it may have asked before it was given the terminal.
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

// orphaned reports whether no shell controls this process group, that is, whether no
// process in it has a parent in another group of the session. Such a group is not stopped:
// setpgid(2), "orphaned process group".
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

// parentOf returns the fourth field of proc_pid_stat(5). The name before it may contain
// anything.
func parentOf(pid int) int {
	text, err := readProc("/proc/" + strconv.Itoa(pid) + "/stat")
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if err != nil || len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}

// stopSelf stops this process group, as the terminal would have done, and returns when it
// is continued. This process comes last, by a signal to this very thread, which takes
// effect before the call returns. A signal to the process or its group could be handled by
// another thread; this one would then already look at the terminal before anyone has given
// it back. The thread is the one that is tied to the child.
func stopSelf() {
	group, own := unix.Getpgrp(), os.Getpid()
	entries, _ := os.ReadDir("/proc") // without the list only this process stops, and the shell continues the group
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != own {
			if at, err := unix.Getpgid(pid); err == nil && at == group {
				_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended or changed its user
			}
		}
	}
	_ = unix.Tgkill(own, unix.Gettid(), unix.SIGSTOP) // signalling oneself is always permitted
}

// exclusive reports whether nobody but root can open the terminal of a stream: TIOCEXCL,
// ioctl_tty(2).
func exclusive(fd int) bool {
	is, err := unix.IoctlGetInt(fd, unix.TIOCGEXCL)
	return err == nil && is != 0
}

// End takes the terminal back if the command still has it, and lets others open it again.
func (t *terminal) End() {
	for _, fd := range t.Streams {
		if !t.taken && exclusive(fd) {
			_ = unix.IoctlSetInt(fd, unix.TIOCNXCL, 0) // it may have hung up
		}
	}
	if t.file == nil {
		return
	}
	if t.foreground() == t.group {
		t.set(t.ours)
	}
	t.file.Close()
}
