package session

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/session/dial"
)

// Server is the supervisor of one session.
type Server struct {
	Boundary Boundary
	Hello    Hello
	// PlainTime is the time limit of a command without flags; 0 means none.
	PlainTime time.Duration
	Static    Status // the fields that do not change: Workspace, Profile, Plan, Protected, Idle

	mu          sync.Mutex
	connections map[*conn]bool
	commands    map[*command]bool
	used        time.Time
	ending      bool

	hello   []byte        // the first two messages to each client
	ask     chan struct{} // closed when the end is requested
	asked   sync.Once
	working sync.WaitGroup // clients not yet told how their request ended
	looking sync.Mutex
	logs    logs
	gone    chan struct{}   // closed when the boundary is gone
	left    []record.Denial // what was quarantined at the end; valid once gone is closed
}

// maxConnections limits the clients connected to a session at one time.
const maxConnections = 256

// Serve serves clients until someone requests the end, ctx ends, the boundary
// ends by itself, or no command has run for the idle time. When it returns,
// nothing of the session is left: no boundary, socket or lock. why says why the
// session ended if nobody requested it, else it is "". Serve calls ready when
// clients can connect.
func (s *Server) Serve(ctx context.Context, l *Lock, ready func()) (why string, err error) {
	s.connections, s.commands, s.ask = map[*conn]bool{}, map[*command]bool{}, make(chan struct{})
	s.gone = make(chan struct{})
	s.used = time.Now()
	s.Static.Name, s.Static.Digest, s.Static.Since, s.Static.PID = s.Hello.Name, s.Hello.Digest, s.used, os.Getpid()
	defer l.Release()
	listener, err := l.listen()
	if err == nil {
		s.hello, err = greeted(s.Hello)
	}
	if err != nil {
		s.Boundary.End()
		s.Boundary.Wait()
		return "", err
	}
	l.leave("")
	ready()
	go s.accept(listener)
	why = s.follow(ctx, l)
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	listener.Close()
	s.Boundary.End()
	lost, left := s.Boundary.Wait()
	s.left = left
	close(s.gone)
	if lost != "" {
		why = lost
	}
	l.leave(ending(why, left))
	s.hangUp()
	return why, nil
}

// maxLeft limits the quarantined files that the reason for an end names.
const maxLeft = 5

// ending returns the reason for an end, if there is one, with the files that were quarantined
// then: there is no client to tell.
func ending(why string, left []record.Denial) string {
	if why == "" {
		return ""
	}
	named := 0
	for _, d := range left {
		if d.Path == "" || d.Kept == "" {
			continue
		}
		if named++; named > maxLeft {
			return why + "; more files were quarantined"
		}
		why += "; " + d.Path + " was quarantined: it is kept in " + d.Kept
	}
	return why
}

// lookInterval is the interval at which a supervisor checks that clients can
// find it.
const lookInterval = 30 * time.Second

// follow waits for a reason to end.
func (s *Server) follow(ctx context.Context, l *Lock) (why string) {
	tick := time.NewTimer(min(s.remaining(), lookInterval))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ""
		case <-s.ask:
			return ""
		case <-s.Boundary.Done():
			return "the boundary has ended"
		case <-tick.C:
			left := s.remaining()
			if left <= 0 {
				return "nothing was run in it for " + time.Duration(s.Static.Idle).String()
			}
			if !l.listened() {
				return "its socket is gone, as after a logout"
			}
			tick.Reset(min(left, lookInterval))
		}
	}
}

// remaining returns the time until the session ends if nothing happens.
func (s *Server) remaining() time.Duration {
	idle := time.Duration(s.Static.Idle)
	s.mu.Lock()
	defer s.mu.Unlock()
	if idle <= 0 {
		return 365 * 24 * time.Hour
	}
	if len(s.commands) > 0 || len(s.connections) > 0 {
		return idle
	}
	return idle - time.Since(s.used)
}

// begin registers work that the end of the session waits for. It returns false
// if the session is already ending.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.working.Add(1)
	return true
}

func (s *Server) end() { s.asked.Do(func() { close(s.ask) }) }

// hangUpLimit limits the time for all last messages together. A client that
// does not read them notices the end when its connection closes.
const hangUpLimit = 2 * time.Second

// hangUp waits until the clients have been told how their commands ended, and
// closes their connections.
func (s *Server) hangUp() {
	told := make(chan struct{})
	go func() { s.working.Wait(); close(told) }()
	select {
	case <-told:
	case <-time.After(hangUpLimit):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.Close()
	}
}

func (s *Server) accept(listener *net.UnixListener) {
	for {
		to, err := listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors: the client has to wait
			time.Sleep(50 * time.Millisecond)
			continue
		}
		c := &conn{UnixConn: to}
		if !s.join(c) {
			c.Close()
			continue
		}
		go s.Boundary.Expect(context.Background())
		runtime.Gosched()     // to the queue from which an idle thread takes work at once
		go s.accept(listener) // this goroutine runs already
		defer s.leave(c)
		s.serve(c)
		return
	}
}

func (s *Server) join(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending || len(s.connections) >= maxConnections {
		return false
	}
	s.connections[c] = true
	return true
}

func (s *Server) leave(c *conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c)
}

func (s *Server) serve(c *conn) {
	if _, err := c.peer(true); err != nil {
		return
	}
	if c.hold(s.hello) != nil || c.SetReadDeadline(time.Now().Add(messageLimit)) != nil {
		return
	}
	defer c.flush()
	var first greeting
	files, err := c.receive(&first)
	defer func() { closeAll(files) }()
	if err != nil || first != greeting(dial.Greeting) || c.SetReadDeadline(time.Now().Add(messageLimit)) != nil {
		return
	}
	var request Request
	more, err := c.receive(&request)
	if files = append(files, more...); err != nil {
		return
	}
	switch {
	case request.Run != nil:
		s.run(c, request.Run, files)
	case request.Status:
		_ = c.send(s.status()) // fails if the client did not wait
	case request.Logs:
		_ = c.send(s.logs.all())
	case request.Publish != "":
		_ = c.send(s.publish(request.Publish, request.PublishAny)) // fails if the client did not wait
	case request.End:
		if !s.begin() {
			return
		}
		defer s.working.Done()
		s.end()
		<-s.gone
		_ = c.send(Ended{s.left}) // fails if the client did not wait
	}
}

func (s *Server) status() Status {
	s.mu.Lock()
	st := s.Static
	st.Used, st.Commands = s.used, []Command{}
	st.Published = append([]string{}, st.Published...)
	for c := range s.commands {
		st.Used = time.Now()
		st.Commands = append(st.Commands, Command{Argv: c.argv, Since: c.child.Started(), PID: c.child.PID(), Limits: c.limits})
	}
	s.mu.Unlock()
	slices.SortFunc(st.Commands, func(a, b Command) int { return a.Since.Compare(b.Since) })
	spare := s.Boundary.Spare()
	st.Processes = slices.DeleteFunc(processes(os.Getpid()), func(p Process) bool { return p.PID == spare })
	if st.Processes == nil {
		st.Processes = []Process{}
	}
	return st
}

func (s *Server) publish(text string, anywhere bool) (p Published) {
	host, err := s.Boundary.Publish(text, anywhere)
	if err != nil && !errors.As(err, &p.Fault) {
		p.Fault = &Fault{Message: err.Error()}
	}
	if p.Host = host; err == nil {
		s.mu.Lock()
		s.Static.Published = append(s.Static.Published, host+" -> "+text[strings.LastIndexByte(text, ':')+1:])
		s.mu.Unlock()
	}
	return p
}

// Refused reports a refused destination to all clients with a running command,
// because it is not known whose command it was.
func (s *Server) Refused(d record.Denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.commands {
		c.refused(d)
	}
}

func (s *Server) look(ctx context.Context) []record.Denial {
	s.looking.Lock()
	defer s.looking.Unlock()
	return s.Boundary.Look(ctx)
}
