package session

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// terminal relays between the client's terminal and the command's.
type terminal struct {
	in     *os.File // the client's, to read from; nil where standard input is another thing
	out    *os.File // the client's, to write to
	master *os.File // of the command's
	keys   bool     // all keys go inside: both input and output are the terminal

	said io.Writer // gets what the command's shows

	mu    sync.Mutex
	saved *unix.Termios // how the client's terminal was, while it is changed
	done  chan struct{} // all that came from the command's terminal was written
}

// newTerminal is the one of the streams that are a terminal, or nil.
func newTerminal(own [3]*os.File, kinds [3]Stream) *terminal {
	t := &terminal{done: make(chan struct{})}
	for _, i := range [3]int{1, 2, 0} {
		if kinds[i] == Terminal && t.out == nil {
			t.out = own[i]
		}
	}
	if t.out == nil {
		return nil
	}
	if kinds[0] == Terminal {
		t.in = own[0]
	}
	t.keys = t.in != nil && kinds[1] == Terminal
	return t
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

func (t *terminal) size() (rows, cols uint16) {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return size.Row, size.Col
}

// resize gives the command's terminal the size of the client's; the kernel sends
// SIGWINCH inside.
func (t *terminal) resize() {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err == nil {
		_ = unix.IoctlSetWinsize(int(t.master.Fd()), unix.TIOCSWINSZ, size) // it may have hung up
	}
}

// begin relays until finish.
func (t *terminal) begin() {
	if !t.keys {
		t.plain()
	}
	t.enter()
	go t.output()
	if t.in != nil {
		go t.input()
	}
}

// plain takes the echo and the line ends from the command's terminal: the
// client's has its own.
func (t *terminal) plain() {
	fd := int(t.master.Fd())
	if mode, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		mode.Lflag &^= unix.ECHO
		mode.Oflag &^= unix.OPOST
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, mode) // it may have hung up
	}
}

// foreground reports whether this process may use its terminal: another one would
// be stopped for it, termios(3) on SIGTTIN and SIGTTOU.
func (t *terminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not our controlling terminal: nobody stops us
}

// enter sends all keys inside: cfmakeraw(3).
func (t *terminal) enter() {
	if !t.keys || !t.foreground() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	mode, err := unix.IoctlGetTermios(int(t.in.Fd()), unix.TCGETS)
	if err != nil {
		return
	}
	if t.saved == nil {
		before := *mode
		t.saved = &before
	}
	mode.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	mode.Oflag &^= unix.OPOST
	mode.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	mode.Cflag &^= unix.CSIZE | unix.PARENB
	mode.Cflag |= unix.CS8
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETS, mode) // it may have hung up
}

// leave gives the terminal back as it was.
func (t *terminal) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved != nil {
		_ = unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETSW, t.saved) // it may have hung up
		t.saved = nil
	}
}

// waitForeground is how often a client in the background looks whether it is in
// the foreground.
const waitForeground = 100 * time.Millisecond

// input copies what is typed. It reads in the foreground only.
func (t *terminal) input() {
	buf := make([]byte, 4<<10)
	entered := t.foreground()
	for ready(int(t.in.Fd()), unix.POLLIN, -1) {
		if !t.foreground() {
			entered = false
			time.Sleep(waitForeground)
			continue
		}
		if !entered {
			t.enter()
			entered = true
		}
		n, err := t.in.Read(buf)
		if n > 0 {
			if _, err := t.master.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			_, _ = t.master.Write([]byte{4}) // ^D: the client's terminal has no more either
			return
		}
	}
}

// output copies what the command's terminal shows, until it hangs up.
func (t *terminal) output() {
	defer close(t.done)
	buf := make([]byte, 32<<10)
	for {
		n, err := t.master.Read(buf)
		_, _ = t.said.Write(buf[:n]) // it is kept in memory
		for piece := buf[:n]; len(piece) > 0; {
			m, err := t.out.Write(piece)
			piece = piece[m:]
			if err != nil && !(errors.Is(err, unix.EAGAIN) && ready(int(t.out.Fd()), unix.POLLOUT, -1)) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// lastOutput is how long the terminal of a command that has ended may take to
// hang up: a process in the background can keep it.
const lastOutput = 500 * time.Millisecond

// finish returns when what the command wrote was shown.
func (t *terminal) finish() {
	select {
	case <-t.done:
	case <-time.After(lastOutput):
	}
}
