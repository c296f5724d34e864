package cli

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Bequeath returns a descriptor from which the program that this one becomes can read the text.
func Bequeath(text []byte) (fd int, err error) {
	fd, err = unix.MemfdCreate("bequeathed", 0) // without MFD_CLOEXEC
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
