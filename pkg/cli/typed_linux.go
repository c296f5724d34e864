package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// DiscardTyped forgets what was typed on a terminal and not read yet:
// tcflush(3). What came before a question is no answer to it: a program that
// ran before can make a terminal send text, by asking it for its state.
func DiscardTyped(terminal *os.File) error {
	return unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
