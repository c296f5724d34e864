package steps

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"ethos/pkg/signals"
	"ethos/pkg/timerslack"
)

// The runtime keeps these three functions available for packages that fork by
// themselves (go.dev/issue/67401).

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// CloneError means that the kernel refused the clone; nothing was started.
type CloneError struct {
	Call  string // clone | clone3
	Flags uint64
	Errno syscall.Errno
}

func (e *CloneError) Error() string { return fmt.Sprintf("namespaces: %s: %v", e.Call, e.Errno) }

func (e *CloneError) Unwrap() error { return e.Errno }

// cloneArgs is struct clone_args of linux/sched.h, CLONE_ARGS_SIZE_VER2 (Linux
// 5.7).
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

// Start clones the child, or takes the one that [Prefork] has cloned, and returns
// at once. The error is a [*CloneError] if
// the kernel refused the clone, a [*StepError] if it refused the maps, and a
// [*LaunchError] if a launcher could not be started. On an error nothing is
// left running. EPERM from the clone usually means that the machine forbids
// user namespaces to ordinary users, ENOSPC that a limit of /proc/sys/user is
// reached, EAGAIN the limit on processes: clone(2), namespaces(7).
func Start(p *Program) (*Process, error) {
	started, ended := takePreforked(p)
	if p.Launcher != nil {
		return launch(p)
	}
	if started == nil {
		var err error
		if started, err = cloneInit(p); err != nil && ended != nil && <-ended {
			started, err = cloneAgain(p)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := started.mapped(); err != nil {
		started.Kill()
		started.Wait()
		return nil, err
	}
	return started, nil
}

// freed is how long the kernel may take to free the namespaces of a process that
// has ended. It counts them until then.
const freed = time.Second

// cloneAgain clones an init when another one has ended.
func cloneAgain(p *Program) (*Process, error) {
	for end := time.Now().Add(freed); ; time.Sleep(time.Millisecond) {
		started, err := cloneInit(p)
		if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EAGAIN) || time.Now().After(end) {
			return started, err
		}
	}
}

// cloneInit clones an init with its program.
func cloneInit(p *Program) (*Process, error) {
	pair, err := channelPair()
	if err != nil {
		return nil, err
	}
	defer unix.Close(pair[1])
	m := newMachine(p, pair[1], pair[0])
	m.handled = signals.Foreign()
	if p.Spawns {
		region, err := newRegion()
		if err != nil {
			unix.Close(pair[0])
			return nil, err
		}
		m.spawner = newSpawner(region)
		m.grow(imageSlots)
	}
	args := &cloneArgs{flags: p.CloneFlags | unix.CLONE_PIDFD, exitSignal: uint64(unix.SIGCHLD)}
	if p.Subreaper == 0 {
		args.flags |= unix.CLONE_NEWPID
	} else {
		m.sender = uint32(os.Getpid())
	}
	if p.CgroupFD > 0 {
		args.flags |= unix.CLONE_INTO_CGROUP
		args.cgroup = uint64(p.CgroupFD)
	}
	pidfd := new(int32)
	args.pidfd = uint64(uintptr(unsafe.Pointer(pidfd)))

	runtime.LockOSThread()
	timerslack.Restore()
	syscall.ForkLock.Lock()
	pid, errno := clone(m, args, pidfd)
	syscall.ForkLock.Unlock()
	if errno != 0 {
		runtime.UnlockOSThread()
		unix.Close(pair[0])
		m.freeRegion()
		return nil, &CloneError{Call: callName(args), Flags: args.flags, Errno: errno}
	}
	started := &Process{PID: int(pid), pidfd: int(*pidfd), channel: pair[0], program: p}
	if m.spawner != nil {
		started.region = m.spawner.region
	}
	return started, nil
}

// reset gives the signals of a set their default action. An error would mean that the number
// is of no signal.
//
//go:nosplit
//go:norace
func reset(set uint64) {
	for i := range maxSig {
		if set>>i&1 != 0 {
			var a sigaction
			syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(i+1), uintptr(unsafe.Pointer(&a)), 0, sigsetSize, 0, 0)
		}
	}
}

// mapped writes the maps and notifies init, which waits for them. If init has
// ended meanwhile, Next reports why. The read end of the step [Mapped] is the
// same channel that Go writes to, so each byte releases one wait.
func (p *Process) mapped() error {
	if p.program.Maps == nil {
		return nil
	}
	if err := p.program.Maps.write(p.PID); err != nil {
		return err
	}
	return p.Go()
}

// channelPair creates a channel and returns the parent's end and the child's.
// SO_PASSCRED makes the kernel add the sender's pid to each message. Both ends
// are close-on-exec, so the command does not inherit the channel.
func channelPair() (pair [2]int, err error) {
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return pair, fmt.Errorf("channel to the child: socketpair: %w", err)
	}
	if err = unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		err = fmt.Errorf("channel to the child: setsockopt SO_PASSCRED: %w", err)
		unix.Close(pair[0])
		unix.Close(pair[1])
	}
	return pair, err
}

// callName returns the system call that clone uses. clone3 is needed only for
// the cgroup; the older call passes seccomp filters that do not know clone3. A
// filter cannot see the flags of clone3, which are in memory, so container
// engines answer it ENOSYS.
func callName(args *cloneArgs) string {
	if args.cgroup != 0 {
		return "clone3"
	}
	return "clone"
}

// clone returns in the parent. The child does not return from it. beforeFork
// blocks all signals, so that no handler runs in the child, and makes each
// attempt to grow the stack fatal. The caller holds syscall.ForkLock, because
// other goroutines may just be making descriptors close-on-exec.
// afterForkInChild resets the signal handlers of the runtime, and reset the others. No stack is passed, so the child
// goes on with a copy of this one.
//
//go:norace
//go:noinline
func clone(m *machine, args *cloneArgs, pidfd *int32) (pid uintptr, errno syscall.Errno) {
	beforeFork()
	if args.cgroup != 0 {
		pid, _, errno = syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(args)), unsafe.Sizeof(*args), 0)
	} else {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(args.flags|args.exitSignal), 0, uintptr(unsafe.Pointer(pidfd)), 0, 0, 0)
	}
	if errno != 0 || pid != 0 {
		afterFork()
		runtime.KeepAlive(m)
		return pid, errno
	}
	afterForkInChild()
	reset(m.handled)
	m.runInit()
	return 0, 0
}
