package steps

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RestoreSignals returns the step that sets the command's signal mask to that
// of the calling thread, because init's blocks everything. Call it on the
// goroutine that calls [Start]. With SIG_BLOCK and no set, rt_sigprocmask(2)
// only returns the mask.
func RestoreSignals() Step {
	mask := new(uint64)
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, 0, uintptr(unsafe.Pointer(mask)), sigsetSize, 0, 0)
	return Step{Stage: "signals", Call: "rt_sigprocmask", Nr: unix.SYS_RT_SIGPROCMASK,
		Args: [6]Arg{Int(unix.SIG_SETMASK), Ptr(mask), Int(0), Int(sigsetSize)}}
}
