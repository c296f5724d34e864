package dial

import (
	"syscall"
	"unsafe"
)

// signalFD receives the signals that would end this process and that a program
// catches: signalfd(2).
type signalFD struct {
	fd   int32
	held bool
	old  uint64 // the signals that were blocked before
}

// open blocks the signals and opens the descriptor. Those that are ignored stay
// ignored.
func (s *signalFD) open() bool {
	var set uint64
	for _, signal := range [...]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM} {
		var action [4]uintptr // struct sigaction of the kernel; its first word is the handler
		_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(signal), 0, uintptr(unsafe.Pointer(&action)), unsafe.Sizeof(set), 0, 0)
		const ignored = 1 // SIG_IGN
		if errno == 0 && action[0] != ignored {
			set |= 1 << (signal - 1)
		}
	}
	s.mask(blockSignals, &set, &s.old)
	s.held = true
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_SIGNALFD4, ^uintptr(0), uintptr(unsafe.Pointer(&set)), unsafe.Sizeof(set), syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0, 0)
	s.fd = int32(fd)
	return errno == 0
}

// What a mask of rt_sigprocmask(2) does.
const (
	blockSignals = 0
	setSignals   = 2
)

func (s *signalFD) mask(how uintptr, set, old *uint64) {
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, how, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), unsafe.Sizeof(*set), 0, 0)
}

// close undoes what open has done, if it was called.
func (s *signalFD) close() {
	if !s.held {
		return
	}
	if s.fd > 0 {
		closeFD(int(s.fd))
	}
	s.mask(setSignals, &s.old, nil)
}

// raise lets the signal that has come do what it would have done.
func (s *signalFD) raise() { s.mask(setSignals, &s.old, nil) }

// kill sends this process a signal.
func kill(signal syscall.Signal) {
	pid, _, _ := syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
	syscall.RawSyscall(syscall.SYS_KILL, pid, uintptr(signal), 0)
}
