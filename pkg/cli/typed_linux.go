package cli

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// DiscardTyped discards what was typed on a terminal and not read yet:
// tcflush(3). Input from before a question is not an answer to it: an earlier
// program can make a terminal send text by querying its state.
func DiscardTyped(terminal *os.File) error {
	return unix.IoctlSetInt(int(terminal.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}

// ShowText makes a terminal show text that is written next, whatever another program has
// made of it: normal attributes (SGR, ECMA-48) on the normal screen (xterm). It does
// nothing to what is no terminal.
func ShowText(w io.Writer) error {
	if !IsTerminal(w) {
		return nil
	}
	_, err := io.WriteString(w, "\x1b[0m\x1b[?47l")
	return err
}

// readWriteNull reports whether f is the null device, opened for reading and
// writing: null(4), fcntl(2).
func readWriteNull(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(info, null) {
		return false
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}

// TakesLines reports whether a line may be written to w while another program
// uses it. It must not be written to a terminal in raw mode, where it would
// damage a full-screen display, nor to one that stops background writers
// (TOSTOP): termios(3).
func TakesLines(w io.Writer) bool {
	if !IsTerminal(w) {
		return true
	}
	t, err := unix.IoctlGetTermios(int(w.(*os.File).Fd()), unix.TCGETS)
	return err == nil && t.Lflag&unix.ICANON != 0 && t.Lflag&unix.TOSTOP == 0
}
