package steps

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// preforkFlags are the namespaces of a preforked init: those of most programs.
const preforkFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// preforked is the init that waits for its program. It is set before the Go
// runtime starts, so its initial value is zero.
var preforked prefork

type prefork struct {
	channel int32 // this process's end; 0: there is no init
	cloner  int32 // the process that has cloned it
}

// Prefork clones an init that waits for the program of the first [Start], while
// this process starts and prepares it. args are the arguments of this process,
// in the memory where the kernel has put them. It must be called before the Go
// runtime starts, which has threads and memory that a clone would copy. Where it
// fails, Start clones as ever, and reports what is wrong.
//
// A process in between makes the clone, because the kernel makes the namespaces
// in the call. With CLONE_PARENT init is the child of this process, of its first
// thread, which lives as long as the process: see [ParentDied].
func Prefork(args []string) {
	var pair [2]int32
	if _, _, e := syscall.RawSyscall6(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0, uintptr(unsafe.Pointer(&pair)), 0, 0); e != 0 {
		return
	}
	on := int32(1)
	_, _, e := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(pair[0]), unix.SOL_SOCKET, unix.SO_PASSCRED, uintptr(unsafe.Pointer(&on)), unsafe.Sizeof(on), 0)
	pid := uintptr(0)
	if e == 0 && min(pair[0], pair[1]) > 2 { // else a standard stream is missing, and the runtime opens it
		pid, _, e = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
		if e == 0 && pid == 0 {
			pid, _, e = syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|preforkFlags, 0, 0, 0, 0, 0)
			if e == 0 && pid == 0 {
				var m machine
				m.awaitProgram(pair, args)
				m.runInit()
			}
			exit(0)
		}
	}
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(pair[1]), 0, 0)
	if e != 0 || pid == 0 {
		syscall.RawSyscall(unix.SYS_CLOSE, uintptr(pair[0]), 0, 0)
		return
	}
	preforked = prefork{channel: pair[0], cloner: int32(pid)}
}

// awaitProgram is the code of a preforked init until it has its program. It ends this
// process if there is none.
//
//go:norace
func (m *machine) awaitProgram(pair [2]int32, args []string) {
	m.allSigs, m.argv, m.parentEnd, m.channel = ^uint64(0), arguments(args), -1, pair[1]
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(pair[0]), 0, 0) // the channel would never hang up
	inherited := ignored()
	if !m.send(kindInside, 0, 0, 0) {
		exit(failedStatus)
	}
	p := &delivery
	m.channel = p.renumber(m.channel, p.receive(m.channel))
	at, _, e := syscall.RawSyscall6(unix.SYS_MMAP, insideBase, uintptr(p.numbers[0]), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED_NOREPLACE, uintptr(p.control.fds[0]), 0)
	if e != 0 || at != insideBase { // a kernel before 4.17 takes the flag for a hint
		exit(failedStatus)
	}
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(p.control.fds[0]), 0, 0)
	head := (*insideHead)(unsafe.Add(nil, insideBase))
	m.load(head, m.channel)
	ignore(inherited, head.ignored)
}

// sigaction is struct sigaction of asm/signal.h.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

const (
	sigIgn = 1 // SIG_IGN of asm-generic/signal-defs.h
	maxSig = 64
)

// ignored returns the signals that this process ignores, 1<<0 for signal 1.
//
//go:nosplit
//go:norace
func ignored() (set uint64) {
	for i := range maxSig {
		var a sigaction
		_, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(i+1), 0, uintptr(unsafe.Pointer(&a)), sigsetSize, 0, 0)
		if e == 0 && a.handler == sigIgn {
			set |= 1 << i
		}
	}
	return set
}

// ignore ignores the signals of a set, and no others. The process that was
// preforked ignores what its parent was started with; a clone of the parent has
// the actions of the parent, without the handlers of the Go runtime.
//
//go:nosplit
//go:norace
func ignore(now, then uint64) {
	for i := range maxSig {
		if (now^then)>>i&1 == 0 {
			continue
		}
		a := sigaction{handler: uintptr(then >> i & 1 * sigIgn)}
		if _, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(i+1), uintptr(unsafe.Pointer(&a)), 0, sigsetSize, 0, 0); e != 0 {
			exit(failedStatus)
		}
	}
}

// passed is the message of [Process.pass]: the size of the image and the numbers
// of the descriptors, with a descriptor of the image and the others.
type passed struct {
	header  unix.Msghdr
	text    unix.Iovec
	numbers [maxPassed]int64
	control struct {
		unix.Cmsghdr
		fds [maxPassed + 1]int32
	}
}

// delivery is the memory of a preforked init. It points to itself, so it cannot
// lie on the stack.
var delivery passed

// receive returns how many descriptors it has received. It ends this process if
// the other side has closed the channel.
//
//go:norace
func (p *passed) receive(channel int32) int {
	p.text.Base = (*byte)(unsafe.Pointer(&p.numbers))
	p.text.SetLen(int(unsafe.Sizeof(p.numbers)))
	p.header.Iov, p.header.Iovlen = &p.text, 1
	p.header.Control = (*byte)(unsafe.Pointer(&p.control))
	p.header.SetControllen(int(unsafe.Sizeof(p.control)))
	size, _, e := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(channel), uintptr(unsafe.Pointer(&p.header)), unix.MSG_CMSG_CLOEXEC)
	n := int(size / unsafe.Sizeof(p.numbers[0]))
	c := &p.control
	if e != 0 || n == 0 || n > maxPassed || c.Level != unix.SOL_SOCKET || c.Type != unix.SCM_RIGHTS || p.header.Flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 ||
		uintptr(c.Len) != unsafe.Sizeof(c.Cmsghdr)+uintptr(n)*unsafe.Sizeof(c.fds[0]) {
		exit(failedStatus)
	}
	return n
}

// renumber gives the descriptors after the first their numbers, and returns the
// new one of the channel, as the function renumber does.
//
//go:norace
func (p *passed) renumber(channel int32, n int) int32 {
	above := int64(3)
	for _, number := range p.numbers[1:n] {
		above = max(above, number+1)
	}
	channel = moveAbove(channel, above)
	for i := range n {
		p.control.fds[i] = moveAbove(p.control.fds[i], above)
	}
	for i := 1; i < n; i++ {
		if _, _, e := syscall.RawSyscall(unix.SYS_DUP3, uintptr(p.control.fds[i]), uintptr(p.numbers[i]), 0); e != 0 {
			exit(failedStatus)
		}
		syscall.RawSyscall(unix.SYS_CLOSE, uintptr(p.control.fds[i]), 0, 0)
	}
	return channel
}

//go:norace
func moveAbove(fd int32, above int64) int32 {
	to, _, e := syscall.RawSyscall(unix.SYS_FCNTL, uintptr(fd), unix.F_DUPFD_CLOEXEC, uintptr(above))
	if e != 0 {
		exit(failedStatus)
	}
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	return int32(to)
}

// preforkLimit is how long [Start] waits for a preforked init to report.
const preforkLimit = 10 * time.Second

// takePreforked gives a program to the preforked init, if there is one and it
// fits. Otherwise it ends that and returns nil: nothing of the program has run.
func takePreforked(p *Program) *Process {
	f := preforked
	if f.channel == 0 {
		return nil
	}
	preforked = prefork{}
	if p.Launcher != nil || p.CloneFlags|unix.CLONE_NEWPID != preforkFlags || p.Subreaper != 0 || p.CgroupFD > 0 || p.Spawns || len(p.Pass) >= maxPassed {
		go f.end()
		return nil
	}
	image, err := p.image()
	if err != nil { // it is too large
		go f.end()
		return nil
	}
	started := f.process()
	if started == nil {
		return nil
	}
	if started.program = p; started.limit() != nil || started.pass(image) != nil {
		started.Kill()
		started.Wait()
		return nil
	}
	return started
}

// process waits until an init has reported, which tells who it is. It returns nil
// if there is none, for one because the kernel refused the clone.
func (f prefork) process() *Process {
	_, _ = unix.Wait4(int(f.cloner), nil, unix.WALL, nil) // fails if SIGCHLD is ignored
	p := &Process{channel: int(f.channel)}
	if kind, err := p.wait(time.Now().Add(preforkLimit)); err == nil && kind == 0 {
		var m message
		oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
		n, oobn, _, _, err := unix.Recvmsg(p.channel, bytesOfMessage(&m), oob, unix.MSG_CMSG_CLOEXEC)
		if err == nil && n == messageSize && m.kind == kindInside {
			p.PID, err = senderPID(oob[:oobn])
		}
		if err == nil && p.PID > 0 {
			if p.pidfd, err = unix.PidfdOpen(p.PID, 0); err == nil {
				return p
			}
		}
	}
	unix.Close(p.channel)
	return nil
}

// limit gives an init the limit on open descriptors that the Go runtime has
// raised for this process.
func (p *Process) limit() error {
	var files unix.Rlimit
	err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &files)
	if err == nil {
		err = unix.Prlimit(p.PID, unix.RLIMIT_NOFILE, &files, nil)
	}
	return err
}

// end ends an init.
func (f prefork) end() {
	if p := f.process(); p != nil {
		p.Kill()
		p.Wait()
	}
}

// Discard ends a preforked init that no [Start] has used.
func Discard() {
	if f := preforked; f.channel > 0 {
		preforked = prefork{}
		f.end()
	}
}
