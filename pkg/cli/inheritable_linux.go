package cli

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Inheritable returns a descriptor that stays open across execve(2), from which the program that
// this one becomes can read the text.
func Inheritable(text []byte) (fd int, err error) {
	fd, err = unix.MemfdCreate("unread input", 0) // without MFD_CLOEXEC
	for done := 0; err == nil && done < len(text); {
		var n int
		n, err = unix.Pwrite(fd, text[done:], int64(done)) // the offset stays at the beginning
		done += n
	}
	if err != nil {
		return 0, fmt.Errorf("keep what was read: %w", err)
	}
	return fd, nil
}
