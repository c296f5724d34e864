package nofile

import "unsafe"

// rlimit is struct rlimit64 of the kernel.
type rlimit struct{ soft, hard uint64 }

// given is the limit that this program was started with, if [Lower] has lowered it;
// otherwise it is zero. It is set before the Go runtime starts.
var given rlimit

// Numbers of amd64: asm/unistd_64.h, linux/fcntl.h and asm-generic/resource.h.
const (
	sysFcntl     = 72
	sysPrlimit64 = 302
	getFD        = 1 // F_GETFD
	openFiles    = 7 // RLIMIT_NOFILE
)

// Lower lowers the limit of open files to none, so that open(2) fails with EMFILE:
// getrlimit(2). It needs nothing of the Go runtime. Where a standard stream is
// closed it does nothing, because the runtime opens the null device instead.
func Lower() {
	for fd := range uintptr(3) {
		if call(sysFcntl, fd, getFD, 0, 0) != 0 {
			return
		}
	}
	var now, none rlimit
	if prlimit(nil, &now) != 0 {
		return
	}
	if none.hard = now.hard; prlimit(&none, nil) == 0 {
		given = now
	}
}

// Package syscall, whose initialisation raises the limit, keeps the one that it
// found there for the programs that this one starts. It waits for other packages, and
// of those that wait for none the first in the order of import paths comes first:
// go.dev/ref/spec#Program_initialization.
func init() {
	var now rlimit
	switch {
	case given.soft == 0:
	case prlimit(&given, &now) != 0 || now.soft != 0:
		panic(`the limit of open files is not restored: the path of the module must sort before "syscall"`)
	}
}

func prlimit(set, old *rlimit) uintptr {
	const self = 0
	return call(sysPrlimit64, self, openFiles, uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)))
}

// call makes a system call, and returns what the kernel does: 0 for success here,
// or the negative number of an error. It is package syscall's RawSyscall, which this
// package cannot import.
func call(number, a, b, c, d uintptr) uintptr
