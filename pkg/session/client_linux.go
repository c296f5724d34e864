package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/session/dial"
)

// Client is a connection to a supervisor. It serves one request.
type Client struct {
	Hello Hello
	conn  *conn
	pid   int
	sent  *dial.Sent // the request for a command, if it was sent already
}

// greet reads the supervisor's first message, for which it waits for at most
// limit.
func greet(c *conn, name string, limit time.Duration) (*Client, error) {
	pid, err := c.peer(false)
	client := &Client{conn: c, pid: pid}
	var first greeting
	if err == nil {
		err = c.SetReadDeadline(time.Now().Add(limit))
	}
	if err == nil {
		var files []*os.File
		files, err = c.receive(&first)
		closeAll(files)
	}
	if err == nil && first != greeting(dial.Greeting) {
		defer c.Close()
		other := &OtherRelease{Name: name}
		if other.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
			return nil, fmt.Errorf("%w: pidfd_open: %w", other, err)
		}
		return nil, other
	}
	if err == nil {
		err = c.SetReadDeadline(time.Now().Add(messageLimit))
	}
	if err == nil {
		var files []*os.File
		files, err = c.receive(&client.Hello)
		closeAll(files)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("session %s: its supervisor, process %d, does not answer", name, pid)
	case err != nil && (errors.Is(err, io.EOF) || errors.Is(err, unix.ECONNRESET)):
		err = fmt.Errorf("session %s: %w", name, ErrBroken)
	case err != nil:
		err = fmt.Errorf("session %s: %w", name, err)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return client, nil
}

// Close closes the connection. A command running on it ends.
func (c *Client) Close() error { return c.conn.Close() }

// Status asks for the state of the session.
func (c *Client) Status() (s Status, err error) {
	return s, c.ask(Request{Status: true}, &s)
}

// Logs asks for what background processes of commands have printed.
func (c *Client) Logs() (l []Log, err error) {
	return l, c.ask(Request{Logs: true}, &l)
}

// Publish asks to publish a port, [ADDRESS:]HOSTPORT:PORT, or PORT for the same port on both sides.
// If anywhere is set, other machines can reach it too. It returns the address on the host. The
// error is a [*Fault] if the port cannot be published.
func (c *Client) Publish(text string, anywhere bool) (host string, err error) {
	var p Published
	if err = c.ask(Request{Publish: text, PublishAny: anywhere}, &p); err == nil && p.Fault != nil {
		err = p.Fault
	}
	return p.Host, err
}

func (c *Client) ask(r Request, answer any) error {
	if err := c.conn.greet(r); err != nil {
		return c.broken(err)
	}
	if err := c.conn.SetReadDeadline(time.Now().Add(messageLimit)); err != nil {
		return err
	}
	files, err := c.conn.receive(answer)
	closeAll(files)
	return c.broken(err)
}

func (c *Client) broken(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("session %s: %w: %w", c.Hello.Name, ErrBroken, err)
}

// endLimit is the maximum time for ending a session.
const endLimit = 30 * time.Second

// End ends the session and returns when its supervisor is gone, which is the last process of the
// session. left lists what was quarantined at the end.
func (c *Client) End() (left []record.Denial, err error) {
	pidfd, err := unix.PidfdOpen(c.pid, 0)
	if err != nil && !errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("pidfd_open: %w", err)
	}
	if err == nil {
		defer unix.Close(pidfd)
	}
	var ended Ended
	if c.conn.greet(Request{End: true}) == nil && c.conn.SetReadDeadline(time.Now().Add(endLimit)) == nil {
		files, _ := c.conn.receive(&ended) // a supervisor that is gone has ended, whatever it sent
		closeAll(files)
	}
	if err == nil && !ready(pidfd, unix.POLLIN, endLimit) {
		return nil, fmt.Errorf("session %s: its supervisor, process %d, has not ended within %v", c.Hello.Name, c.pid, endLimit)
	}
	return ended.Denials, nil
}

// End ends the session by SIGTERM, which every release understands, and returns
// when its supervisor is gone.
func (o *OtherRelease) End() error {
	defer unix.Close(o.pidfd)
	if err := unix.PidfdSendSignal(o.pidfd, unix.SIGTERM, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("session %s: pidfd_send_signal: %w", o.Name, err)
	}
	if !ready(o.pidfd, unix.POLLIN, endLimit) {
		return fmt.Errorf("session %s: its supervisor has not ended within %v", o.Name, endLimit)
	}
	return nil
}

// ready waits until one of the events occurs on a descriptor, for at most limit. A negative limit
// means no limit.
func ready(fd int, events int16, limit time.Duration) bool {
	list := []unix.PollFd{{Fd: int32(fd), Events: events}}
	end := time.Now().Add(limit)
	for {
		wait := -1
		if limit >= 0 {
			wait = int(max(0, time.Until(end)).Milliseconds())
		}
		n, err := unix.Poll(list, wait)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}

// Want describes a command that a client wants to run, and its connections to the caller.
type Want struct {
	Argv, Env []string
	Dir       string
	Timeout   time.Duration // 0 means none
	Evidence  bool          // include the evidence in Exited
	NoNetwork bool          // run without the session's network
	DenyWrite []string      // absolute paths; no writing there or below
	DenyRead  []string      // absolute paths; no reading either
	Profile   string        // the profile that the two lists come from; "" for none
	Limits    Limits        // the command's own
	// In, Out and Err become the streams of the command. A file is passed on, output to a pipe or
	// socket is copied, and a terminal is relayed.
	In, Out, Err *os.File
	// Signals received here are forwarded to the command.
	Signals <-chan os.Signal
	// Said receives a copy of the copied output. It may be used concurrently, and may be nil.
	Said io.Writer
	// Refused is called for each refused destination while the command runs. It may be nil.
	Refused func(record.Denial)
}

// Run runs a command. It copies its streams until the command has ended and all its output is
// written. The error is a [*Fault] if nothing ran.
func (c *Client) Run(w Want) (Exited, error) {
	streams := newStreams(w.Said, w.In, w.Out, w.Err)
	if c.sent == nil {
		if err := c.request(w, streams); err != nil {
			return Exited{}, err
		}
	} else if c.sent.Streams != streams.kinds {
		return Exited{}, errors.New("a standard stream was replaced")
	}
	var first Event
	files, err := c.conn.receive(&first)
	if c.sent != nil {
		for _, fd := range c.sent.Pipes {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	switch {
	case err != nil:
		closeAll(files)
		return Exited{}, c.broken(err)
	case first.Fault != nil:
		closeAll(files)
		return Exited{}, first.Fault
	case first.Started == nil || streams.take(files) != nil:
		closeAll(files)
		return Exited{}, fmt.Errorf("session %s: invalid answer", c.Hello.Name)
	}
	return c.follow(w, streams), nil
}

func (c *Client) request(w Want, streams *streams) error {
	mask, err := umask()
	if err != nil {
		return err
	}
	run := &Run{
		Command:  dial.Command{Argv: w.Argv, Env: w.Env, Dir: w.Dir, Umask: mask, Streams: streams.kinds},
		Terminal: streams.terminal != nil, Timeout: w.Timeout, Evidence: w.Evidence,
		Narrow: Narrow{NoNetwork: w.NoNetwork, DenyWrite: w.DenyWrite, DenyRead: w.DenyRead, Profile: w.Profile},
		Limits: w.Limits,
	}
	if err := run.check(); err != nil {
		return err
	}
	if streams.terminal != nil {
		run.Rows, run.Cols = streams.terminal.size()
	}
	list, err := numbers(streams.passed)
	if err != nil {
		return err
	}
	return c.broken(c.conn.greet(Request{Run: run}, list...))
}

// follow relays streams and signals until the command has ended.
func (c *Client) follow(w Want, s *streams) Exited {
	s.begin(func(i int) { _ = c.conn.send(Event{Closed: i}) }) // the command may have ended
	defer s.end()
	exited := make(chan Exited, 1)
	go func() { exited <- c.exited(w.Refused) }()
	for {
		select {
		case e := <-exited:
			s.finish()
			return e
		case sig := <-w.Signals:
			number, ok := sig.(syscall.Signal)
			if !ok {
				continue
			}
			if e, hungUp := c.signal(number, s); hungUp {
				return e
			}
		}
	}
}

// signal forwards a signal, and applies its effect to this process.
func (c *Client) signal(sig syscall.Signal, s *streams) (e Exited, hungUp bool) {
	if sig == syscall.SIGWINCH {
		s.resize()
		return e, false
	}
	_ = c.conn.send(Event{Signal: int(sig)}) // the command may have ended
	switch sig {
	case syscall.SIGHUP:
		if s.terminal != nil { // no terminal is left: the end of the connection ends the command
			return Exited{Status: int(syscall.SIGHUP)}, true
		}
	case syscall.SIGTSTP:
		s.suspend()
		_ = c.conn.send(Event{Signal: int(syscall.SIGCONT)}) // this process was continued
	case syscall.SIGCONT:
		s.resume()
	}
	return e, false
}

// exited waits for the end of the command.
func (c *Client) exited(refused func(record.Denial)) Exited {
	for {
		var e Event
		files, err := c.conn.receive(&e)
		closeAll(files)
		switch {
		case err != nil:
			return Exited{Lost: "the supervisor of the session ended", Status: int(syscall.SIGKILL)}
		case e.Exited != nil:
			return *e.Exited
		case e.Denied != nil && refused != nil:
			refused(*e.Denied)
		}
	}
}
