package steps

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ParentDied is the signal that tells init that its parent's thread has died. A
// step must request it with prctl(2), PR_SET_PDEATHSIG. It is blocked, so that
// init can clean up. A closed channel has the same meaning.
const ParentDied = syscall.Signal(60)

// stopAll is the signal by which [Process.StopAll] has init stop everything.
const stopAll = syscall.Signal(61)

// runInit is the code of PID 1. It does not return. The order matters. Signals
// are blocked before anything else, so that no step is interrupted (EINTR) and
// none of the runtime's handlers runs. The parent's end of the channel is
// closed next: while this process has it open, the channel would never hang up.
// The signals of the command's first moments are kept pending for signalfd(2),
// which is therefore opened before the clone.
//
//go:nosplit
//go:norace
//go:noinline
func (m *machine) runInit() {
	if e := setMask(&m.allSigs, nil); e != 0 {
		m.fail(PartInit, len(m.init)+ownSigmask, e)
	}
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(m.parentEnd), 0, 0)
	m.rename()
	m.must(m.init, PartInit)
	fd, _, e := syscall.RawSyscall6(unix.SYS_SIGNALFD4, ^uintptr(0), uintptr(unsafe.Pointer(&m.allSigs)), sigsetSize, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK, 0, 0)
	if e != 0 {
		m.fail(PartInit, len(m.init)+ownSignalfd, e)
	}
	m.sigfd = int32(fd)
	pid, _, e := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if e != 0 {
		m.fail(PartInit, len(m.init)+ownClone, e)
	}
	if pid == 0 {
		m.runCommand()
	}
	m.commandPID = int32(pid) // 2 in a PID namespace that was made for init
	if e := m.letGo(); e != 0 {
		m.fail(PartFinalize, len(m.finalize)+ownCloseRange, e)
	}
	m.must(m.finalize, PartFinalize)
	if !m.send(kindSettled, 0, 0, 0) {
		m.orphaned()
	}
	for {
		m.wait()
		m.signals()
		m.reap()
	}
}

// rename replaces the text of /proc/1/cmdline by init's name, because the
// arguments of this process do not concern the command.
//
//go:nosplit
//go:norace
func (m *machine) rename() {
	for i := 0; i < len(m.argv); i++ {
		c := byte(0)
		if i < len(InitName) && i < len(m.argv)-1 {
			c = InitName[i]
		}
		m.argv[i] = c
	}
}

// InitName is the name of init inside: /proc/1/comm and /proc/1/cmdline.
const InitName = "ethos-init"

// letGo closes every descriptor of init except those that it uses. The
// command's streams would otherwise never reach their end of file while init
// lives. It needs Linux 5.9 (close_range(2), ENOSYS before).
//
//go:nosplit
//go:norace
func (m *machine) letGo() syscall.Errno {
	low := int32(0)
	for {
		next := m.nextKept(low)
		if next < 0 {
			return closeRange(uintptr(low), 1<<32-1)
		}
		if next > low {
			if e := closeRange(uintptr(low), uintptr(next-1)); e != 0 {
				return e
			}
		}
		low = next + 1
	}
}

// nextKept returns the lowest descriptor to keep that is at least low, or -1.
//
//go:nosplit
//go:norace
func (m *machine) nextKept(low int32) int32 {
	found := int32(-1)
	for i := -2; i < maxKept; i++ {
		fd := m.sigfd
		if i == -1 {
			fd = m.slots[Channel]
		} else if i >= 0 {
			if m.keepSlots[i] == 0 {
				break
			}
			fd = m.slots[m.keepSlots[i]]
		}
		if fd >= low && (found < 0 || fd < found) {
			found = fd
		}
	}
	return found
}

//go:nosplit
//go:norace
func closeRange(first, last uintptr) syscall.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_CLOSE_RANGE, first, last, 0)
	return e
}

// sigsetSize is the size of a kernel sigset_t on the 64-bit architectures.
const sigsetSize = 8

// runCommand is the code of PID 2 until its execve. It does not return. Init
// notices its death.
//
//go:nosplit
//go:norace
//go:noinline
func (m *machine) runCommand() {
	command := m.command
	i := m.run(command, PartCommand)
	if i < 0 && m.spawner != nil {
		command = m.serve() // returns in the process of a command
		i = m.run(command, PartCommand)
	}
	if i < 0 { // no execve was left that could fail
		i, m.errno = len(command)-1, syscall.ENOENT
	}
	m.send(kindFailed, PartCommand, int32(i), int32(m.errno))
	exit(failedStatus)
}

// wait blocks until a signal arrives. It ends the namespace if the parent's end
// of the channel is closed, or if it cannot block: a seccomp filter around this
// process may refuse every call once its supervisor has ended. POLLRDHUP means
// that the other side has closed the channel or will not write any more:
// poll(2). SIGCHLD is among the signals.
//
//go:nosplit
//go:norace
func (m *machine) wait() {
	m.poll[0].Fd, m.poll[0].Events = m.sigfd, unix.POLLIN
	m.poll[1].Fd, m.poll[1].Events = m.slots[Channel], unix.POLLRDHUP
	_, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&m.poll[0])), 2, 0, 0, 0, 0)
	if e != 0 && e != syscall.EINTR || m.poll[1].Revents&(unix.POLLHUP|unix.POLLRDHUP|unix.POLLERR) != 0 {
		m.orphaned()
	}
}

// signals passes signals from outside the namespace on to the command's process
// group. A sender outside has no pid here, and neither has the kernel; without
// a namespace, the sender is the process that started this one. In a signal of
// rt_sigqueueinfo(2) the sender chooses the pid itself, but its code is
// negative, and the kernel permits no other (do_rt_sigqueueinfo in
// kernel/signal.c). All signals are blocked and not handled. The kernel never
// discards a blocked signal, so those from inside come here too, even in a PID
// namespace whose init otherwise gets only signals that it handles:
// pid_namespaces(7). tgkill(2) has a negative code as well and is not passed
// on.
//
//go:nosplit
//go:norace
func (m *machine) signals() {
	for {
		n, _, e := syscall.RawSyscall(unix.SYS_READ, uintptr(m.sigfd), uintptr(unsafe.Pointer(&m.sigs)), unsafe.Sizeof(m.sigs))
		if e != 0 || n != unsafe.Sizeof(m.sigs) {
			return
		}
		if m.sigs.Signo == uint32(unix.SIGCHLD) || m.sigs.Pid != m.sender || m.sigs.Code < 0 {
			continue
		}
		switch {
		case m.sigs.Signo == uint32(ParentDied):
			m.orphaned()
		case m.sigs.Signo == uint32(stopAll):
			m.stop()
			continue
		case m.sigs.Signo == uint32(unix.SIGCONT) && m.stopped:
			m.stopped = false
			syscall.RawSyscall(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGCONT), 0)
			continue
		}
		// The command may not have made its process group yet.
		if _, _, e = syscall.RawSyscall(unix.SYS_KILL, uintptr(-m.commandPID), uintptr(m.sigs.Signo), 0); e == syscall.ESRCH {
			syscall.RawSyscall(unix.SYS_KILL, uintptr(m.commandPID), uintptr(m.sigs.Signo), 0)
		}
	}
}

// stop stops everything but init, until it passes SIGCONT on. A fork does not
// escape: while a signal to several processes is pending it starts again
// (copy_process in kernel/fork.c). Nothing that runs inside can continue the
// others, because nothing does. Without a PID namespace -1 would mean every
// process of the user.
//
//go:nosplit
//go:norace
func (m *machine) stop() {
	if m.subreaper == 0 {
		m.stopped = true
		syscall.RawSyscall(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGSTOP), 0)
	}
	m.send(kindStoppedAll, 0, 0, 0)
}

// reap waits for every child that changed state. WALL also waits for children
// that were cloned without SIGCHLD: waitpid(2).
//
//go:nosplit
//go:norace
func (m *machine) reap() {
	for {
		pid, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&m.status)), unix.WNOHANG|unix.WUNTRACED|unix.WALL, 0, 0, 0)
		if e != 0 || int32(pid) <= 0 {
			return
		}
		if int32(pid) != m.commandPID {
			continue
		}
		if m.status&0xff == 0x7f && m.spawner != nil { // a command stopped it
			syscall.RawSyscall(unix.SYS_KILL, uintptr(m.commandPID), uintptr(unix.SIGCONT), 0)
			continue
		}
		if m.status&0xff == 0x7f { // WIFSTOPPED
			m.send(kindStopped, 0, 0, m.status>>8&0xff)
			continue
		}
		m.finish(m.status)
	}
}

// orphaned ends the namespace because its owner is gone.
//
//go:nosplit
//go:norace
func (m *machine) orphaned() {
	m.killAll()
	m.end()
	exit(failedStatus)
}

// finish ends everything that the command left behind, reports, and ends the
// namespace. If the report cannot be sent, the exit status tells the parent:
// see [Fate]. The order is part of the contract of [Exited]: nothing of the
// command is alive when the parent reads it.
//
//go:nosplit
//go:norace
func (m *machine) finish(status int32) {
	m.killAll()
	if !m.send(kindExited, 0, 0, status) {
		exit(unheardStatus)
	}
	exit(0)
}

// killAll returns when init is alone in the namespace. If that cannot be
// determined, init exits and the kernel kills the rest: pid_namespaces(7).
// kill(2) with -1 means every process but the caller and init, so there may be
// none left (ESRCH). A process that is in an uninterruptible call delays the
// end.
//
//go:nosplit
//go:norace
func (m *machine) killAll() {
	for {
		_, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), 0, unix.WNOHANG|unix.WALL, 0, 0, 0)
		if e == syscall.ECHILD {
			return
		}
		if e != 0 {
			exit(failedStatus)
		}
		if m.subreaper == 0 {
			syscall.RawSyscall(unix.SYS_KILL, ^uintptr(0), uintptr(unix.SIGKILL), 0)
		} else if !m.killChildren() {
			syscall.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), 0, unix.WALL, 0, 0, 0)
		for { // all that has ended, because each kill above examines every process
			pid, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), 0, unix.WNOHANG|unix.WALL, 0, 0, 0)
			if e != 0 || int32(pid) <= 0 {
				break
			}
		}
	}
}

// killChildren kills the children of a subreaper, and reports whether there was
// one. Their own children become the subreaper's in turn. None of the numbers
// can be another process's: a number becomes free when its process has been
// waited for, which only this process does. The list may have gaps, and the
// last number in a full buffer may be cut: proc_pid_children(5). -1 must never
// be signalled here, because it means every process of the caller.
//
//go:nosplit
//go:norace
func (m *machine) killChildren() (any bool) {
	n, _, e := syscall.RawSyscall6(unix.SYS_PREAD64, uintptr(m.slots[m.subreaper]), uintptr(unsafe.Pointer(&m.listed[0])), unsafe.Sizeof(m.listed), 0, 0, 0)
	if e != 0 {
		exit(failedStatus)
	}
	pid := int32(0)
	for i := uintptr(0); i < n && i < unsafe.Sizeof(m.listed); i++ {
		switch c := m.listed[i]; {
		case c >= '0' && c <= '9':
			pid = pid*10 + int32(c-'0')
		default:
			if pid > 1 {
				syscall.RawSyscall(unix.SYS_KILL, uintptr(pid), uintptr(unix.SIGKILL), 0)
				any = true
			}
			pid = 0
		}
	}
	return any
}
