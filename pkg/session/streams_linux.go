package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/session/dial"
)

// streams holds the standard streams of a client and relays them.
type streams struct {
	own      [3]*os.File
	kinds    [3]dial.Stream
	passed   []*os.File
	terminal *terminal // nil if no stream is a terminal
	relays   []*relay
	copying  sync.WaitGroup
	watching sync.WaitGroup
	over     [2]*os.File // a pipe that hangs up at the end
	said     io.Writer   // receives a copy of standard output and error
}

func newStreams(said io.Writer, files ...*os.File) *streams {
	if said == nil {
		said = io.Discard
	}
	s := &streams{said: said}
	copy(s.own[:], files)
	fds := [3]int{-1, -1, -1}
	for i, f := range s.own {
		if f != nil {
			fds[i] = int(f.Fd())
		}
	}
	s.kinds = dial.Kinds(fds)
	for i, f := range s.own {
		if s.kinds[i] == dial.Passed {
			s.passed = append(s.passed, f)
		}
	}
	if s.terminal = newTerminal(s.own, s.kinds); s.terminal != nil {
		s.terminal.said = said
	}
	return s
}

// take takes the descriptors received with Started.
func (s *streams) take(files []*os.File) error {
	want := 0
	for i, kind := range s.kinds {
		if kind != dial.Piped {
			continue
		}
		if want++; want > len(files) {
			return errors.New("a pipe is missing")
		}
		s.relays = append(s.relays, &relay{from: files[want-1], to: s.own[i], stream: i, said: s.said})
	}
	if s.terminal != nil {
		if want++; want > len(files) {
			return errors.New("the terminal is missing")
		}
		s.terminal.master = files[want-1]
	}
	if want != len(files) {
		return errors.New("one descriptor too many")
	}
	return nil
}

// begin relays until finish is called. It calls closed for each stream that
// nobody reads any more.
func (s *streams) begin(closed func(stream int)) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // makes a write to a closed pipe return an error
	if len(s.relays) > 0 {
		s.over[0], s.over[1], _ = os.Pipe() // if it fails, nobody watches: writers notice at their next write
	}
	for _, r := range s.relays {
		r.closed = closed
		s.copying.Go(r.copy)
		if over := s.over[0]; over != nil {
			s.watching.Go(func() { r.watch(int(over.Fd())) })
		}
	}
	if s.terminal != nil {
		s.terminal.begin()
	}
}

// finish returns when everything that the command wrote before its end has been
// written.
func (s *streams) finish() {
	if s.terminal != nil {
		s.terminal.finish()
	}
	for _, r := range s.relays {
		_ = r.from.SetReadDeadline(time.Now()) // a file without deadlines ends by itself
	}
	s.copying.Wait()
	for _, r := range s.relays {
		r.drain()
	}
}

// end restores the caller's terminal. Nothing uses a stream after it returns: a
// pending poll(2) would keep a stream open that the caller closes.
func (s *streams) end() {
	if s.over[1] != nil {
		s.over[1].Close()
		s.watching.Wait()
		s.over[0].Close()
	}
	s.leave()
}

func (s *streams) leave() {
	if s.terminal != nil {
		s.terminal.leave()
	}
}

func (s *streams) resize() {
	if s.terminal != nil {
		s.terminal.resize()
	}
}

func (s *streams) resume() {
	if s.terminal != nil {
		s.terminal.enter()
		s.terminal.resize()
	}
}

// suspend stops this process, unless nobody would continue it. It returns once
// the process was continued.
func (s *streams) suspend() {
	if orphaned() {
		return
	}
	s.leave()
	runtime.LockOSThread() // a thread handles a signal to itself before it continues
	_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
	runtime.UnlockOSThread()
	s.resume()
}

// orphaned reports whether our process group is orphaned: no process in it has
// a parent in another group of the session. SIGTSTP does not stop such a group:
// setpgid(2).
func orphaned() bool {
	group := unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		return true
	}
	for _, pid := range [2]int{os.Getpid(), group} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // the group leader may have ended
		}
		p, _ := parseStatus(string(text))
		sid, err1 := unix.Getsid(p.parent)
		at, err2 := unix.Getpgid(p.parent)
		if p.parent > 0 && err1 == nil && err2 == nil && sid == session && at != group {
			return false
		}
	}
	return true
}

// relay copies what a command writes to one stream.
type relay struct {
	from, to *os.File
	stream   int
	said     io.Writer
	closed   func(int)
	once     sync.Once
}

// copy copies until the end of the stream, the deadline, or until nobody reads.
func (r *relay) copy() {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.from.Read(buf)
		if !r.write(buf[:n]) || err != nil {
			return
		}
	}
}

// write writes all of a piece and reports whether there may still be a reader.
func (r *relay) write(piece []byte) bool {
	_, _ = r.said.Write(piece) // in memory, cannot fail
	for len(piece) > 0 {
		n, err := r.to.Write(piece)
		piece = piece[n:]
		if err == nil {
			continue
		}
		if errors.Is(err, unix.EAGAIN) && ready(int(r.to.Fd()), unix.POLLOUT, -1) { // someone made it non-blocking
			continue
		}
		r.unread()
		return false
	}
	return true
}

// unread reports once that nobody reads, so that the command's next write
// fails.
func (r *relay) unread() {
	r.once.Do(func() {
		r.from.Close()
		r.closed(r.stream)
	})
}

// watch waits until nobody reads the stream's destination, or until over hangs
// up: poll(2), POLLERR.
func (r *relay) watch(over int) {
	fd := int(r.to.Fd())
	list := []unix.PollFd{{Fd: int32(fd)}, {Fd: int32(over)}}
	for {
		n, err := unix.Poll(list, -1)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n > 0 && list[0].Revents&unix.POLLERR != 0 {
			r.unread()
		}
		return
	}
}

// drain copies what is in the pipe when the command has ended. What background
// processes write later does not belong to this client.
func (r *relay) drain() {
	raw, err := r.from.SyscallConn()
	if err != nil {
		return
	}
	left, buf := 0, make([]byte, 64<<10)
	if raw.Control(func(fd uintptr) { left, err = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }) != nil || err != nil {
		return // closed: nobody reads
	}
	for left > 0 {
		n := 0
		if raw.Control(func(fd uintptr) { n, err = unix.Read(int(fd), buf[:min(left, len(buf))]) }) != nil || err != nil || n == 0 || !r.write(buf[:n]) {
			return
		}
		left -= n
	}
}
