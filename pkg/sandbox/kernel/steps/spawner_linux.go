package steps

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxCommands is how many commands of one spawner may run at a time. A further
// one fails with EAGAIN, as fork(2) does at its limit. The table is in memory
// that was made before the clone, so it cannot grow.
const maxCommands = 256

// spawner is the memory of a command's process that does not call execve, but
// clones other commands, which inherit its confinement. Like [machine], it is
// built before the clone.
type spawner struct {
	region   unsafe.Pointer // where images are copied to
	commands [maxCommands]spawned
	header   unix.Msghdr
	text     [2]unix.Iovec // of a request, and of an image that follows it
	request  request
	args     cloneArgs // of a command in a cgroup of its own
	memory   memory
	atOnce   unix.Timespec // zero
	control  struct {
		unix.Cmsghdr
		fds [requestFDs]int32
	}
}

// request is what the parent asks for. The descriptors that come with it are
// the image, the channel to the parent, the three streams and the cgroup; where
// there is none of these, another one stands for it. A spare gets a small image
// in the same message, behind the request.
type request struct {
	size     int64 // of the image; 0: a second request, to the command's process, has it
	inCgroup int64 // 1: the command starts in the cgroup
}

const requestSize = unsafe.Sizeof(request{})

// maxBehind is the largest image that follows its request. Such a message fits
// into an empty socket (net.core.wmem_default).
const maxBehind = 32 << 10

// requestFDs is the number of descriptors in a request.
const requestFDs = 6

const (
	requestImage   = 0
	requestChannel = 1
	requestStreams = 2
	requestCgroup  = 5
)

// spawned is a command that has not ended. The zero value is an empty entry.
type spawned struct{ pid, channel int32 }

// newSpawner sets all pointers, because [machine.serve] must not: while the
// heap is being marked, the compiler's code for it writes to memory of the
// runtime.
func newSpawner(region unsafe.Pointer) *spawner {
	s := &spawner{region: region, memory: memory{page: uintptr(os.Getpagesize())}}
	s.text[0].Base = (*byte)(unsafe.Pointer(&s.request))
	s.text[1].Base = (*byte)(region)
	s.header.Iov = &s.text[0]
	s.header.Control = (*byte)(unsafe.Pointer(&s.control))
	return s
}

// serve processes requests until nobody can make any more. It returns only in
// the process of a command, with its steps.
//
// The process was cloned without a Go runtime that works: no goroutine,
// allocation or stack growth is possible in it. It therefore makes raw system
// calls with memory that was laid out before the clone. A command is not
// dumpable either until its execve(2), so the files of its own /proc/self
// belong to root: proc(5). Its steps must not write to them.
//
//go:nosplit
//go:norace
//go:noinline
func (m *machine) serve() []Step {
	// Commands must not reach the memory of this process, which is a copy
	// of its parent's: ptrace(2), "Ptrace access mode checking".
	if _, _, e := syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0); e != 0 {
		exit(failedStatus)
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&m.allSigs)), 0, sigsetSize, 0, 0)
	m.letGoOfAll()
	m.forget()
	for {
		m.poll[0].Fd, m.poll[0].Events, m.poll[0].Revents = m.sigfd, unix.POLLIN, 0
		m.poll[1].Fd, m.poll[1].Events, m.poll[1].Revents = m.channel, unix.POLLIN, 0
		syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&m.poll[0])), 2, 0, 0, 0, 0)
		for {
			if _, _, e := syscall.RawSyscall(unix.SYS_READ, uintptr(m.sigfd), uintptr(unsafe.Pointer(&m.sigs)), unsafe.Sizeof(m.sigs)); e != 0 {
				break
			}
		}
		m.reapCommands()
		if m.poll[1].Revents != 0 && m.take() {
			return (*imageHead)(m.spawner.region).steps
		}
	}
}

// letGoOfAll closes every descriptor except the streams and the two that a
// spawner uses: close_range(2). Commands inherit what remains, since they are
// cloned from this process.
//
//go:nosplit
//go:norace
func (m *machine) letGoOfAll() {
	a, b := min(m.sigfd, m.channel), max(m.sigfd, m.channel)
	for _, r := range [3][2]int32{{3, a - 1}, {a + 1, b - 1}, {b + 1, 1<<31 - 1}} {
		if r[0] <= r[1] {
			closeRange(uintptr(r[0]), uintptr(r[1]))
		}
	}
}

// reapCommands reports every command that changed state. Processes that an
// ended command left behind become init's children.
//
//go:nosplit
//go:norace
func (m *machine) reapCommands() {
	for {
		pid, _, e := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&m.status)), unix.WNOHANG|unix.WUNTRACED|unix.WALL, 0, 0, 0)
		if e != 0 || int32(pid) <= 0 {
			return
		}
		for i := 0; i < maxCommands; i++ {
			c := &m.spawner.commands[i]
			if c.pid != int32(pid) {
				continue
			}
			if m.status&0xff == 0x7f { // WIFSTOPPED
				m.sendTo(c.channel, kindStopped, 0, m.status>>8&0xff)
				break
			}
			m.sendTo(c.channel, kindExited, 0, m.status)
			syscall.RawSyscall(unix.SYS_CLOSE, uintptr(c.channel), 0, 0)
			c.pid = 0
			break
		}
	}
}

// sendTo reports on the channel of a command.
//
//go:nosplit
//go:norace
func (m *machine) sendTo(channel, kind, index, value int32) {
	own := m.channel
	m.channel = channel
	m.send(kind, PartCommand, index, value)
	m.channel = own
}

// take receives one request and clones its command. It returns true in the
// command's process. A request that this package did not write ends the
// spawner. The descriptors are closed in this process in any case, except the
// channel of a command that runs. They must not leak into the next command,
// which is a clone of this process.
//
//go:nosplit
//go:norace
func (m *machine) take() bool {
	s := m.spawner
	s.expect()
	n, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(m.channel), uintptr(unsafe.Pointer(&s.header)), unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if e == syscall.EAGAIN || e == syscall.EINTR {
		return false
	}
	if e != 0 || n != requestSize || !s.valid() {
		exit(failedStatus) // or the parent has hung up
	}
	image, channel := s.control.fds[requestImage], s.control.fds[requestChannel]
	errno := fill(image, s.region, uintptr(s.request.size))
	at := m.place()
	pid := uintptr(0)
	if errno == 0 && at < 0 {
		errno = syscall.EAGAIN
	}
	if errno == 0 {
		pid, errno = s.clone()
	}
	if errno == 0 && pid == 0 {
		if m.channel = channel; s.request.size == 0 {
			m.await()
		}
		m.become(channel)
		return true
	}
	if errno != 0 {
		m.sendTo(channel, kindFailed, int32(len((*imageHead)(s.region).steps))+ownClone, int32(errno))
	} else {
		s.commands[at].pid, s.commands[at].channel = int32(pid), channel
	}
	for i := 0; i < requestFDs; i++ {
		if errno != 0 || i != requestChannel {
			syscall.RawSyscall(unix.SYS_CLOSE, uintptr(s.control.fds[i]), 0, 0)
		}
	}
	return false
}

// expect prepares for a request. recvmsg(2) overwrites these fields.
//
//go:nosplit
//go:norace
func (s *spawner) expect() {
	s.text[0].SetLen(int(requestSize))
	s.text[1].SetLen(maxBehind)
	s.header.Iovlen = 2
	s.header.SetControllen(int(unsafe.Sizeof(s.control)))
}

// valid reports whether the head of a message is a request that this package
// wrote.
//
//go:nosplit
//go:norace
func (s *spawner) valid() bool {
	return s.control.Type == unix.SCM_RIGHTS && s.control.Len == requestControl && s.request.size >= 0 && s.request.size <= regionSize
}

// clone clones the command, in its cgroup if it has one: clone(2),
// CLONE_INTO_CGROUP, Linux 5.7. A process that is moved later could have forked
// before, and what it forked would stay in the other cgroup.
//
//go:nosplit
//go:norace
func (s *spawner) clone() (pid uintptr, errno syscall.Errno) {
	if s.request.inCgroup == 0 {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		return pid, errno
	}
	s.args.flags, s.args.exitSignal = unix.CLONE_INTO_CGROUP, uint64(unix.SIGCHLD)
	s.args.cgroup = uint64(s.control.fds[requestCgroup])
	pid, _, errno = syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&s.args)), unsafe.Sizeof(s.args), 0)
	return pid, errno
}

// requestControl is the length of the control message of a request:
// CMSG_LEN(3).
const requestControl = unix.SizeofCmsghdr + 4*requestFDs

// fill reads an image into the region. read(2) of a memfd may return less than
// asked for, and 0 only at its end: EPROTO says that the request promised more.
//
//go:nosplit
//go:norace
func fill(fd int32, region unsafe.Pointer, size uintptr) syscall.Errno {
	for have := uintptr(0); have < size; {
		n, _, e := syscall.RawSyscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(region)+have, size-have, have, 0, 0)
		if e != 0 {
			return e
		}
		if n == 0 {
			return syscall.EPROTO
		}
		have += n
	}
	return 0
}

// place returns the index of a free entry for a command, or -1.
//
//go:nosplit
//go:norace
func (m *machine) place() int {
	for i := 0; i < maxCommands; i++ {
		if m.spawner.commands[i].pid == 0 {
			return i
		}
	}
	return -1
}

// become turns this process, which was just cloned, into that of a command.
//
//go:nosplit
//go:norace
func (m *machine) become(channel int32) {
	for i := Channel; i < imageSlots; i++ {
		m.slots[i] = -1
	}
	for i := 0; i < 3; i++ {
		m.slots[Channel+1+Slot(i)] = m.spawner.control.fds[requestStreams+i]
	}
	m.channel, m.slots[Channel] = channel, channel
}
