package control

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Status is the content of /proc/PID/status: proc_pid_status(5). Capability sets, the number of
// filters, no_new_privs and the ids of a process are all there, so one read gives a consistent
// picture of the command that waits.
type Status string

// ReadStatus reads the status of a process. The error is a [*plan.Refusal].
func ReadStatus(pid int) (Status, error) {
	text, err := readProc("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return "", Unreadable(err)
	}
	return Status(text), nil
}

// field returns the value of one line, or "" if there is none.
func (t Status) field(name string) string {
	for line := range strings.SplitSeq(string(t), "\n") {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// readProc reads a file of proc(5). It avoids package os, which prepares for files that may
// block.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	return readAll(fd, path)
}

// readAll reads a descriptor to its end, from where it stands. A file of proc(5) has no size to
// go by.
func readAll(fd int, path string) ([]byte, error) {
	text := make([]byte, 0, 16<<10)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if n == 0 {
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
	}
}
