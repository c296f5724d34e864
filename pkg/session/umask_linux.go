package session

import (
	"bytes"
	"errors"
	"fmt"
	"syscall"
)

// umask returns the umask of this process: proc_pid_status(5), Linux 4.7. It is
// in one of the first lines.
func umask() (mask int, err error) {
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
