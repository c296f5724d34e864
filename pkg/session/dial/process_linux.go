package dial

import (
	"bytes"
	"errors"
	"fmt"
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
	if fd < 0 || syscall.Fstat(fd, st) != nil {
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
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TCGETS, uintptr(unsafe.Pointer(&settings)))
	return errno == 0
}

// Umask returns the umask of this process: proc_pid_status(5), Linux 4.7. It is
// in one of the first lines.
func Umask() (mask int, err error) {
	fd, err := syscall.Open("/proc/self/status", syscall.O_RDONLY|syscall.O_CLOEXEC, 0) // an os.File asks whether it can be polled
	if err != nil {
		return 0, fmt.Errorf("/proc/self/status: %w", err)
	}
	defer syscall.Close(fd)
	text := make([]byte, 1<<10)
	n, err := syscall.Read(fd, text)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/status: %w", err)
	}
	return parseUmask(text[:n])
}

// parseUmask parses the mask in /proc/self/status.
func parseUmask(text []byte) (mask int, err error) {
	const label = "\nUmask:\t"
	at := bytes.Index(text, []byte(label))
	if at < 0 {
		return 0, errors.New("/proc/self/status has no umask")
	}
	for _, c := range text[at+len(label):] {
		if c < '0' || c > '7' {
			break
		}
		mask = mask<<3 | int(c-'0')
	}
	return mask, nil
}
