package session

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/session/dial"
)

// command is a command that the supervisor runs for a client.
type command struct {
	argv   []string
	limits Limits
	child  Child
	conn   *conn
	told   atomic.Int32 // number of refused destinations

	mu    sync.Mutex
	pipes [3]*os.File // our ends of its standard output and error, until nobody reads them
}

// run runs a command for a client and returns when the client hangs up.
func (s *Server) run(c *conn, r *Run, files []*os.File) {
	command, started, err := s.start(c, r, files)
	if err != nil {
		_ = c.send(Event{Fault: asFault(err)}) // fails if the client has gone
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		command.listen()
		command.child.Kill() // if it has not ended
	}()
	exited := command.wait(s, s.Hello.within(r.Timeout))
	exited.Started = started
	exited.Denials = append(s.look(context.Background()), command.child.Denials()...)
	if r.Evidence {
		evidence := command.child.Evidence()
		evidence.Narrowed = r.Narrow.text()
		exited.Evidence = &evidence
	}
	if r.Plain { // its client may wait for [dial.Success]
		exited.Started, exited.Duration = time.Time{}, 0
	}
	_ = c.send(Event{Exited: &exited})             // fails if the client has gone
	unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // the client may wait for this processor
	if !r.Terminal && !slices.Contains(r.Streams[:], dial.Piped) {
		c.Close() // the client needs nothing else, and its end then disturbs nobody
	}
	s.finish(command)
	time.AfterFunc(preparePause, s.Boundary.Prepare)
	<-gone // the client now has all output
	command.log(&s.logs)
}

// preparePause is the time between a command's end and the preparation of the
// next. A client ends in a fraction of it, and the next takes longer to start.
const preparePause = time.Millisecond

// start starts a command. It tells the client and sends it the descriptors that
// the client owns from then on.
func (s *Server) start(c *conn, r *Run, files []*os.File) (_ *command, started time.Time, err error) {
	if err := r.check(); err != nil {
		return nil, started, err
	}
	if len(files) != r.passed() {
		return nil, started, errors.New("the request lacks descriptors that it names")
	}
	if r.Plain {
		r.Timeout = s.PlainTime
	}
	spawn := Spawn{
		Argv: r.Argv, Env: r.Env, Plain: r.Plain, Dir: r.Dir, Umask: r.Umask & 0o777,
		Terminal: r.Terminal, Rows: r.Rows, Cols: r.Cols, Narrow: r.Narrow,
		Limits: r.Limits, Timeout: s.Hello.within(r.Timeout),
	}
	command := &command{argv: spawn.Argv, limits: r.Limits, conn: c}
	theirs, err := command.streams(&spawn, r, files)
	defer closeAll(theirs)
	if err == nil {
		err = s.spawn(command, spawn)
	}
	if err != nil {
		closeAll(command.pipes[:])
		return nil, started, err
	}
	hand := make([]*os.File, 0, maxDescriptors)
	for _, f := range append(command.pipes[1:], command.child.Terminal()) {
		if f != nil {
			hand = append(hand, f)
		}
	}
	list, err := numbers(hand)
	if err == nil {
		_ = c.send(Event{Started: &Started{PID: command.child.PID()}}, list...) // listen notices a client that has gone
	}
	if terminal := command.child.Terminal(); terminal != nil {
		terminal.Close() // the client's death now hangs it up
	}
	return command, command.child.Started(), nil
}

// spawn starts a command, unless the session is ending.
func (s *Server) spawn(c *command, spawn Spawn) (err error) {
	if !s.begin() {
		return errors.New("the session is ending")
	}
	if c.child, err = s.Boundary.Spawn(spawn); err != nil {
		s.working.Done()
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands[c], s.used = true, time.Now()
	return nil
}

// finish removes a command from the running ones.
func (s *Server) finish(c *command) {
	s.mu.Lock()
	delete(s.commands, c)
	s.used = time.Now()
	s.mu.Unlock()
	s.working.Done()
}

// streams creates the standard streams of the command. theirs are the ends to
// close here once the command has them.
func (c *command) streams(spawn *Spawn, r *Run, files []*os.File) (theirs []*os.File, err error) {
	for i, kind := range r.Streams {
		switch kind {
		case dial.Passed:
			spawn.Streams[i], files = files[0], files[1:]
		case dial.Joined:
			spawn.Streams[i] = spawn.Streams[1]
		case dial.Piped:
			ours, its, err := pipe()
			if err != nil {
				return theirs, err
			}
			c.pipes[i], spawn.Streams[i] = ours, its
			theirs = append(theirs, its)
		case dial.Null:
			if !r.Terminal {
				continue
			}
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0) // nil would select the terminal
			if err != nil {
				return theirs, err
			}
			spawn.Streams[i], theirs = null, append(theirs, null)
		}
	}
	return theirs, nil
}

// pipe returns a pipe with a non-blocking read end and a blocking write end,
// which is for the command.
func pipe() (r, w *os.File, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	if err := unix.SetNonblock(p[0], true); err != nil {
		unix.Close(p[0])
		unix.Close(p[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(p[0]), "pipe"), os.NewFile(uintptr(p[1]), "pipe"), nil
}

// listen handles the client's messages until it hangs up.
func (c *command) listen() {
	for {
		var e Event
		files, err := c.conn.receive(&e)
		closeAll(files)
		if err != nil {
			return
		}
		if e.Signal > 0 {
			_ = c.child.Signal(syscall.Signal(e.Signal)) // the command may have ended
		}
		if e.Closed == 1 || e.Closed == 2 {
			c.close(e.Closed)
		}
	}
}

// close closes our end of a stream, so that writers notice.
func (c *command) close(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pipes[i] != nil {
		c.pipes[i].Close()
		c.pipes[i] = nil
	}
}

func (c *command) wait(s *Server, limit time.Duration) (e Exited) {
	var late atomic.Bool
	if limit > 0 {
		timer := time.AfterFunc(limit, func() {
			late.Store(true)
			c.child.Kill()
		})
		defer timer.Stop()
	}
	status, err := c.child.Wait()
	e.Duration = time.Since(c.child.Started())
	e.Status = int(status)
	killed := err == nil && status.Signaled()
	e.Timeout = late.Load() && killed
	e.Unheld = c.child.Unheld()
	e.OOM = !e.Timeout && killed && c.child.Killed() != ""
	var fault *Fault
	switch {
	case errors.As(err, &fault):
		e.Fault = fault
	case err != nil: // with its boundary, the kernel killed it
		e.Lost, e.Status = err.Error(), int(syscall.SIGKILL)
	}
	return e
}

// maxRefused limits the refused destinations reported while a command runs.
const maxRefused = 32

// refused reports a refused destination to the client. It does not block.
func (c *command) refused(d record.Denial) {
	if c.told.Add(1) <= maxRefused {
		go c.conn.send(Event{Denied: &d})
	}
}

// log keeps the last output of the command's background processes, for as long
// as any of them can write.
func (c *command) log(to *logs) {
	c.mu.Lock()
	pipes := c.pipes
	c.pipes = [3]*os.File{}
	c.mu.Unlock()
	kept := &backlog{argv: c.argv, since: c.child.Started()}
	for _, p := range pipes {
		if p == nil {
			continue
		}
		go func() {
			defer p.Close()
			buf := make([]byte, 4<<10)
			for {
				n, err := p.Read(buf)
				to.add(kept, buf[:n])
				if err != nil {
					return
				}
			}
		}()
	}
}

func asFault(err error) *Fault {
	var fault *Fault
	if errors.As(err, &fault) {
		return fault
	}
	return &Fault{Code: CodeSetup, Message: err.Error()}
}

// CodeSetup is the code of a [Fault] without a code of its own: the session
// failed before the boundary was created.
const CodeSetup = "session.setup"
