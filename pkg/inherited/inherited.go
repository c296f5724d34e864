// Package inherited tells file descriptors that a program was started with from
// those that it has opened itself. A command line that names a descriptor means
// one of the former.
package inherited

import (
	"os"

	"golang.org/x/sys/unix"
)

// Has reports whether the program was started with a descriptor that is still open.
// An inherited descriptor has survived execve(2), so it is not close-on-exec. The
// program's own ones are, or a command that it starts would inherit them.
func Has(fd int) bool {
	if fd < 0 {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0
}

// Writable reports whether a descriptor takes what is written to it: fcntl(2),
// F_GETFL.
func Writable(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	how := flags & unix.O_ACCMODE
	return err == nil && (how == unix.O_WRONLY || how == unix.O_RDWR)
}

// File returns an inherited descriptor as a file with a name, or nil if there is
// no such descriptor.
func File(fd int, name string) *os.File {
	if !Has(fd) {
		return nil
	}
	return os.NewFile(uintptr(fd), name)
}
