package seccomp

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations of seccomp(2). Source: linux/seccomp.h.
const (
	SetModeFilter = 1 // SECCOMP_SET_MODE_FILTER
)

// Fprog returns the third argument of seccomp(SECCOMP_SET_MODE_FILTER, flags,
// …). It points into p's memory, so p must stay reachable until the call
// returns. p must not be empty. The number of instructions is 16 bits there; a
// [Program] of Compile fits.
func (p Program) Fprog() *unix.SockFprog {
	return &unix.SockFprog{Len: uint16(len(p)), Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.SliceData(p)))}
}

// Fails to compile if the layouts that Fprog relies on differ.
const _ = -(unsafe.Sizeof(unix.SockFilter{}) ^ unsafe.Sizeof(Program{}[0]))

// Install installs the program permanently on the calling thread and everything
// that it starts from then on. The thread must have no_new_privs set (prctl(2),
// PR_SET_NO_NEW_PRIVS) or CAP_SYS_ADMIN in its user namespace. flags are
// FlagLog and similar; without FlagTSync, the process's other threads are not
// affected. seccomp(2) fails with EACCES without one of these, EINVAL for a
// program that the kernel does not accept, and ENOMEM if there are too many
// instructions. The package runtime moves goroutines between threads: lock the
// thread before and never unlock it, or set FlagTSync. It must not be called
// with FlagNewListener, whose result is a descriptor.
func (p Program) Install(flags uint32) error {
	if len(p) == 0 || len(p) > maxProgram {
		return fmt.Errorf("seccomp: a program of %d instructions cannot be installed", len(p))
	}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, SetModeFilter, uintptr(flags), uintptr(unsafe.Pointer(p.Fprog())))
	switch {
	case errno != 0:
		return fmt.Errorf("seccomp: set mode filter: %w", errno)
	case r != 0: // with FlagTSync: a thread that could not be synchronized
		return fmt.Errorf("seccomp: set mode filter: thread %d cannot be synchronized", r)
	}
	return nil
}

// Bytes returns the program as the kernel takes it, an array of struct
// sock_filter. It is what bwrap(1) reads from --add-seccomp-fd. The result
// shares p's memory.
func Bytes(p Program) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), len(p)*int(unsafe.Sizeof(p[0])))
}
