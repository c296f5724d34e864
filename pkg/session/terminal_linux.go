package session

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/session/dial"
)

// terminal relays between the client's terminal and the command's.
type terminal struct {
	in     *os.File // the client's, for reading; nil if standard input is not a terminal
	out    *os.File // the client's, for writing
	master *os.File // master side of the command's terminal
	keys   bool     // forward all keys: both input and output are the terminal

	said io.Writer // receives a copy of what the command's terminal shows

	mu    sync.Mutex
	saved *unix.Termios // previous settings of the client's terminal, while they are changed
	done  chan struct{} // closed when everything from the command's terminal has been written
}

// newTerminal returns the terminal among the streams, or nil.
func newTerminal(own [3]*os.File, kinds [3]dial.Stream) *terminal {
	t := &terminal{done: make(chan struct{})}
	for _, i := range [3]int{1, 2, 0} {
		if kinds[i] == dial.Terminal && t.out == nil {
			t.out = own[i]
		}
	}
	if t.out == nil {
		return nil
	}
	if kinds[0] == dial.Terminal {
		t.in = own[0]
	}
	t.keys = t.in != nil && kinds[1] == dial.Terminal
	return t
}

func (t *terminal) size() (rows, cols uint16) {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return size.Row, size.Col
}

// resize gives the command's terminal the size of the client's terminal. The
// kernel then sends SIGWINCH inside.
func (t *terminal) resize() {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err == nil {
		_ = unix.IoctlSetWinsize(int(t.master.Fd()), unix.TIOCSWINSZ, size) // it may have hung up
	}
}

// begin relays until finish is called.
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

// plain disables echo and line-end conversion on the command's terminal,
// because the client's terminal does both.
func (t *terminal) plain() {
	fd := int(t.master.Fd())
	if mode, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		mode.Lflag &^= unix.ECHO
		mode.Oflag &^= unix.OPOST
		_ = unix.IoctlSetTermios(fd, unix.TCSETS, mode) // it may have hung up
	}
}

// foreground reports whether this process may use its terminal. A background
// process would be stopped: termios(3), SIGTTIN and SIGTTOU.
func (t *terminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp() // not our controlling terminal: nothing stops us
}

// enter switches to raw mode, so that all keys go inside: cfmakeraw(3).
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

// leave restores the settings of the client's terminal.
func (t *terminal) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saved != nil {
		_ = unix.IoctlSetTermios(int(t.in.Fd()), unix.TCSETSW, t.saved) // it may have hung up
		t.saved = nil
	}
}

// waitForeground is the interval at which a background client checks whether it
// is in the foreground.
const waitForeground = 100 * time.Millisecond

// input copies what is typed. It reads only while in the foreground.
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
			_, _ = t.master.Write([]byte{4}) // ^D: the client's terminal has no more input either
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
		_, _ = t.said.Write(buf[:n]) // in memory, cannot fail
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

// lastOutput limits the wait for the terminal of an ended command to hang up: a
// background process may keep it open.
const lastOutput = 500 * time.Millisecond

// finish returns when everything that the command wrote has been shown.
func (t *terminal) finish() {
	select {
	case <-t.done:
	case <-time.After(lastOutput):
	}
}
