//go:build amd64 || arm64

package faultinject

import (
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// All, set in the environment, asks for every call with every errno instead of a
// sample.
const All = "ETHOS_TEST_ALL_FAULTS"

// interruptible calls can end with EINTR: signal(7).
var interruptible = append([]int32{unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_RECVMSG, unix.SYS_SENDMSG, unix.SYS_PPOLL, unix.SYS_WAIT4, unix.SYS_FLOCK,
	unix.SYS_FCNTL, unix.SYS_DUP3, unix.SYS_CLONE, unix.SYS_CLONE3, unix.SYS_IOCTL, unix.SYS_CONNECT, unix.SYS_SETNS, unix.SYS_FTRUNCATE, unix.SYS_EXECVE}, polls...)

// Errnos are the errnos that a call is made to fail with. EINTR is the last. A
// read never fails with EAGAIN: the Go runtime then waits until the file becomes
// readable, which one of /proc that always was may never do again.
func Errnos(nr int32) []syscall.Errno {
	list := []syscall.Errno{syscall.EPERM, syscall.ENOSYS, syscall.EINVAL, syscall.ENOMEM}
	if nr != unix.SYS_READ {
		list = append(list, syscall.EAGAIN)
	}
	if slices.Contains(interruptible, nr) {
		list = append(list, syscall.EINTR)
	}
	return list
}
