package steps

import (
	"runtime"
	"sync"
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
	pidfd   int32 // of the same
}

// Prefork clones an init that waits for the program of the first [Start], while
// this process starts and prepares it. args are the arguments of this process,
// in the memory where the kernel has put them. It must be called before the Go
// runtime starts, which has threads and memory that a clone would copy. Where it
// fails, Start clones as ever, and reports what is wrong.
//
// A process in between makes the clone, because the kernel makes the namespaces
// in the call. With CLONE_PARENT init is the child of this process, of its first
// thread, which lives as long as the process: see [ParentDied]. Signals are
// blocked meanwhile: those for the process group of this process must not stop
// the one in between.
func Prefork(args []string) {
	var pair [2]int32
	if _, _, e := syscall.RawSyscall6(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0, uintptr(unsafe.Pointer(&pair)), 0, 0); e != 0 {
		return
	}
	on := int32(1)
	_, _, e := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(pair[0]), unix.SOL_SOCKET, unix.SO_PASSCRED, uintptr(unsafe.Pointer(&on)), unsafe.Sizeof(on), 0)
	pid, pidfd, cpu := uintptr(0), int32(0), processor()
	if e == 0 && min(pair[0], pair[1]) > 2 { // else a standard stream is missing, and the runtime opens it
		all, mask := ^uint64(0), uint64(0)
		if e = setMask(&all, &mask); e == 0 {
			pid, _, e = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD)|unix.CLONE_PIDFD, 0, uintptr(unsafe.Pointer(&pidfd)), 0, 0, 0)
		}
		if e == 0 && pid == 0 {
			if !elsewhere(cpu) {
				exit(0)
			}
			pid, _, e = syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|preforkFlags, 0, 0, 0, 0, 0)
			if e == 0 && pid == 0 {
				var m machine
				m.awaitProgram(pair, args)
				m.runInit()
			}
			exit(0)
		}
		setMask(&mask, nil)
	}
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(pair[1]), 0, 0)
	if e != 0 || pid == 0 {
		syscall.RawSyscall(unix.SYS_CLOSE, uintptr(pair[0]), 0, 0)
		return
	}
	preforked = prefork{channel: pair[0], cloner: int32(pid), pidfd: pidfd}
}

// processor returns the number of the processor that runs this process: getcpu(2).
//
//go:nosplit
//go:norace
func processor() (cpu uint32) {
	syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return cpu
}

// processors is a set of them, as large as the C library's.
type processors [1024 / 64]uint64

// elsewhere moves this process to another processor if it has the given one, that
// of the process that has cloned it, which would wait meanwhile. In a virtual
// machine the kernel can leave a new process there although another is idle, because
// it takes one that has halted for one that the host has preempted: see
// available_idle_cpu in kernel/sched. It returns false if the process cannot have
// its processors back.
//
// To set them all, which leaves what the cpuset has, is as if none had been set,
// unless somebody has: sched_setaffinity(2).
//
//go:nosplit
//go:norace
func elsewhere(cpu uint32) bool {
	var given, other, now processors
	if cpu != processor() || cpu >= 64*uint32(len(given)) || !affinity(unix.SYS_SCHED_GETAFFINITY, &given) {
		return true
	}
	other = given
	other[cpu/64] &^= 1 << (cpu % 64)
	if !affinity(unix.SYS_SCHED_SETAFFINITY, &other) { // as if there is no other
		return true
	}
	for i := range other {
		other[i] = ^uint64(0)
	}
	return affinity(unix.SYS_SCHED_SETAFFINITY, &other) && affinity(unix.SYS_SCHED_GETAFFINITY, &now) && now == given ||
		affinity(unix.SYS_SCHED_SETAFFINITY, &given)
}

//go:nosplit
//go:norace
func affinity(call uintptr, set *processors) bool {
	_, _, e := syscall.RawSyscall(call, 0, unsafe.Sizeof(*set), uintptr(unsafe.Pointer(set)))
	return e == 0
}

// setMask sets the signals that are blocked, and returns those that were before
// in old, unless that is nil: rt_sigprocmask(2).
//
//go:nosplit
//go:norace
func setMask(set, old *uint64) syscall.Errno {
	_, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), sigsetSize, 0, 0)
	return e
}

// awaitProgram is the code of a preforked init until it has its program. It ends
// this process if there is none. Signals that are not blocked are lost, because
// the kernel takes no default action for the first process of a namespace:
// pid_namespaces(7). Only the request to end is kept.
//
//go:norace
func (m *machine) awaitProgram(pair [2]int32, args []string) {
	m.allSigs, m.argv, m.parentEnd, m.channel = ^uint64(0), arguments(args), -1, pair[1]
	syscall.RawSyscall(unix.SYS_CLOSE, uintptr(pair[0]), 0, 0) // the channel would never hang up
	kept := uint64(1) << (ParentDied - 1)
	inherited := ignored()
	if setMask(&kept, nil) != 0 || !m.send(kindInside, 0, 0, 0) {
		exit(failedStatus)
	}
	p := &delivery
	n, e := p.receive(m.channel)
	m.delivered(deliveryReceive, e)
	if n == 0 {
		exit(failedStatus)
	}
	m.channel, e = p.renumber(m.channel, n)
	m.delivered(deliveryRenumber, e)
	head, e := p.image()
	m.delivered(deliveryMap, e)
	m.load(head, m.channel)
	m.delivered(deliveryIgnore, ignore(inherited, head.ignored))
}

// delivered reports an error of a call by which init receives its program, and
// ends this process.
//
//go:norace
func (m *machine) delivered(call int32, e syscall.Errno) {
	if e != 0 {
		m.send(kindFailed, partDelivery, call, int32(e))
		exit(failedStatus)
	}
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
func ignore(now, then uint64) syscall.Errno {
	for i := range maxSig {
		if (now^then)>>i&1 == 0 {
			continue
		}
		a := sigaction{handler: uintptr(then >> i & 1 * sigIgn)}
		if _, _, e := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(i+1), uintptr(unsafe.Pointer(&a)), 0, sigsetSize, 0, 0); e != 0 {
			return e
		}
	}
	return 0
}

// preforkLimit is how long [Start] waits for a preforked init to report. The
// process that clones it may have been stopped.
const preforkLimit = 2 * time.Second

// takePreforked gives a program to the preforked init, if there is one and it
// fits. Otherwise it ends that and returns nil: nothing of the program has run.
// ended then says when that is done, and whether there was an init. It is nil if
// that is known.
func takePreforked(p *Program) (started *Process, ended <-chan bool) {
	f := preforked
	if f.channel == 0 {
		return nil, nil
	}
	preforked = prefork{}
	var image []byte
	if fits(p) {
		image, _ = p.image() // it may be too large
	}
	if image == nil {
		done := make(chan bool, 1)
		ending.Go(func() { done <- f.end() })
		return nil, done
	}
	if started = f.process(); started == nil {
		return nil, nil
	}
	if started.program = p; started.limit() != nil || started.pass(image) != nil {
		runtime.LockOSThread() // for Wait
		started.abandon()
		return nil, nil
	}
	runtime.LockOSThread() // as cloneInit does; the runtime first starts another thread, while init already works
	return started, nil
}

// fits reports whether a program can be run by an init that was cloned before
// this process knew it.
func fits(p *Program) bool {
	if p.Launcher != nil || p.CloneFlags|unix.CLONE_NEWPID != preforkFlags || p.Subreaper != 0 || p.CgroupFD > 0 || p.Spawns || len(p.Pass) >= maxPassed {
		return false
	}
	var files unix.Rlimit
	needs := uint64(3) // the channel and the image, above all others
	for _, fd := range p.Pass {
		needs = max(needs, uint64(fd)+4)
	}
	return unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &files) == nil && needs+uint64(len(p.Pass)) <= files.Cur
}

// process waits until an init has reported, which tells who it is. It returns nil
// if there is none, for one because the kernel refused the clone.
func (f prefork) process() *Process {
	p := &Process{channel: int(f.channel)}
	if kind, err := p.wait(time.Now().Add(preforkLimit)); err == nil && kind == 0 {
		var m message
		oob := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
		n, oobn, _, _, err := unix.Recvmsg(p.channel, bytesOfMessage(&m), oob, unix.MSG_CMSG_CLOEXEC)
		if err == nil && n == messageSize && m.kind == kindInside {
			p.PID, err = senderPID(oob[:oobn])
		}
		if err == nil && p.PID > 0 {
			p.pidfd, err = unix.PidfdOpen(p.PID, 0)
		}
		if err != nil {
			p.PID = 0
		}
	}
	_ = unix.PidfdSendSignal(int(f.pidfd), unix.SIGKILL, nil, 0) // it has nothing left to do, and may have been stopped
	_, _ = unix.Wait4(int(f.cloner), nil, unix.WALL, nil)        // fails if SIGCHLD is ignored
	unix.Close(int(f.pidfd))
	if p.PID == 0 {
		unix.Close(p.channel) // whoever waits at the other end ends
		return nil
	}
	return p
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

// end ends an init, and reports whether there was one.
func (f prefork) end() bool {
	p := f.process()
	if p == nil {
		return false
	}
	p.abandon()
	return true
}

// abandon ends an init that waits for its program. It does so by itself when the
// channel hangs up, also where a filter refuses the signal.
func (p *Process) abandon() {
	_ = p.Kill()
	_ = unix.Shutdown(p.channel, unix.SHUT_RDWR)
	_, _ = p.Wait()
}

// ending are those that are being ended.
var ending sync.WaitGroup

// Discard ends a preforked init that no [Start] has used. When it returns, there
// is none, and nothing is open in it.
func Discard() {
	if f := preforked; f.channel > 0 {
		preforked = prefork{}
		f.end()
	}
	ending.Wait()
}
