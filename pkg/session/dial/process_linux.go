package dial

import (
	"syscall"
	"unsafe"
)

// Kinds determines the kinds of standard streams by their descriptors; -1 is
// none.
func Kinds(fds [3]int) (kinds [3]Stream) {
	var info [3]syscall.Stat_t
	for i, fd := range fds {
		kinds[i] = kindOf(fd, i, &info[i])
	}
	if kinds[1] == Piped && kinds[2] == Piped && info[1].Dev == info[2].Dev && info[1].Ino == info[2].Ino {
		kinds[2] = Joined // a single pipe preserves the order of writes
	}
	return kinds
}

func kindOf(fd, i int, st *syscall.Stat_t) Stream {
	if fd < 0 {
		return Null
	}
	if _, _, errno := syscall.RawSyscall(sysFstat, uintptr(fd), uintptr(unsafe.Pointer(st)), 0); errno != 0 {
		return Null
	}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO, syscall.S_IFSOCK:
		if i > 0 {
			return Piped
		}
	case syscall.S_IFCHR:
		if isTerminal(fd) {
			return Terminal
		}
	}
	return Passed
}

// isTerminal reports whether a descriptor has settings of a terminal: ioctl_tty(2), TCGETS.
func isTerminal(fd int) bool {
	var settings syscall.Termios
	_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	return errno == 0
}

// umask returns the umask of this process. To read it is to set it: umask(2). So
// no other thread may create files meanwhile.
func umask() int {
	mask := syscall.Umask(0o777)
	syscall.Umask(mask)
	return mask
}
