package exec

import (
	"context"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Session is a boundary for several commands. Its first process is confined and
// verified as the command of a run is, and then clones commands, which inherit
// what confines it.
type Session struct {
	// Tamper is for tests: it changes the calls of a command before they are made.
	Tamper func([]steps.Step)

	run      *run
	cancel   context.CancelFunc
	began    chan struct{}
	done     chan struct{}
	outcome  Outcome
	err      error
	evidence record.Sandbox
	spawner  int // a pidfd

	alive sync.RWMutex // held for writing when the session ends: what is held for reading may use its process
	ended bool

	mu      sync.Mutex // one command is started at a time
	running int
	idle    bool
}

// Start starts a session of a plan, whose Argv and limit of time count for
// nothing. It returns when commands can be started. The error is a
// [*plan.Refusal], and nothing is left then.
func Start(ctx context.Context, p *plan.Plan, io IO) (*Session, error) {
	if p.Backend != "" {
		return nil, plan.Refuse(plan.CodeUnsupported, "ethos-sandbox run --backend "+p.Backend+", for each command", "the backend %s has no sessions", p.Backend)
	}
	q := *p
	q.Limits.Timeout = 0
	inside, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Session{cancel: cancel, began: make(chan struct{}), done: make(chan struct{})}
	x := &Runner{Plan: &q, IO: io, hooks: hooks{began: s.begin, ends: s.end}}
	go func() {
		s.outcome, s.err = x.Run(inside)
		cancel()
		close(s.done)
	}()
	select {
	case <-s.began:
		return s, nil
	case <-s.done:
		if s.err == nil {
			s.err = plan.Refuse(plan.CodeSetup, "", "the session ended while it began")
		}
		return nil, s.err
	case <-ctx.Done():
		cancel()
		<-s.done
		return nil, &plan.Refusal{Code: plan.CodeSetup, Err: ctx.Err()}
	}
}

// begin is called by the run when its process may go on.
func (s *Session) begin(r *run) {
	s.run, s.evidence = r, r.evidence(nil)
	if fd, err := unix.PidfdOpen(r.pid, 0); err == nil {
		s.spawner = fd
	}
	close(s.began)
}

// end waits for those who use the session's process, and lets nobody begin to.
func (s *Session) end() {
	s.alive.Lock()
	defer s.alive.Unlock()
	if s.ended = true; s.spawner > 0 {
		unix.Close(s.spawner)
		s.spawner = 0
	}
}

// Plan is the plan in force.
func (s *Session) Plan() *plan.Plan { return s.run.job.Plan }

// Init is the first process of the session's PID namespace, by its number outside.
func (s *Session) Init() int { return s.run.proc.PID }

// Evidence is that of the boundary as it was verified when the session began.
func (s *Session) Evidence() record.Sandbox { return s.evidence }

// Done is closed when nothing is alive inside any more, and nothing is left.
func (s *Session) Done() <-chan struct{} { return s.done }

// End ends everything inside: [Session.Wait] returns then. It ends as a run does
// whose command has ended: what is there is judged and cleaned up from here, where
// it is known what is whose.
func (s *Session) End() {
	go func() {
		s.alive.RLock()
		defer s.alive.RUnlock()
		if s.ended {
			return
		}
		if s.spawner <= 0 || unix.PidfdSendSignal(s.spawner, unix.SIGKILL, nil, 0) != nil {
			s.cancel()
		}
	}()
}

// Wait waits for the end of the session and says how it ended.
func (s *Session) Wait() (Outcome, error) {
	<-s.done
	return s.outcome, s.err
}

// errEnded is what happens to those who use a session that has ended.
var errEnded = plan.Refuse(plan.CodeSetup, "start it again: ethos-sandbox session start", "the session has ended")

// Spawn starts a command. The error is a [*plan.Refusal]: it did not run.
func (s *Session) Spawn(ctx context.Context, c Command) (*Child, error) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errEnded
	}
	if err := control.CheckStreams(s.Plan(), c); err != nil {
		return nil, err
	}
	narrowing, err := control.Narrowed(s.Plan(), c.Narrow)
	if err != nil {
		return nil, err
	}
	child, err := s.spawn(ctx, c, narrowing)
	if err != nil {
		return nil, control.CommandRefusal(err, c)
	}
	s.running++
	return child, nil
}

// wake has the controls begin anew when nothing was alive inside: what has changed
// meanwhile is the person's. It must have returned before a command may go on.
func (s *Session) wake(ctx context.Context) error {
	if !s.idle {
		return nil
	}
	for r := range of[control.Resident](s.run) {
		if err := r.Wake(ctx); err != nil {
			s.End()
			return &plan.Refusal{Code: plan.CodeStale, Err: fmt.Errorf("the session does not fit what is there any more, and ends: %w", err), Hint: "start it again: ethos-sandbox session start"}
		}
	}
	s.idle = false
	return nil
}

// spawn starts a command and has it verified.
func (s *Session) spawn(ctx context.Context, c Command, narrowing *control.Narrowing) (*Child, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	var streams [3]int
	for i, f := range c.Streams {
		if f == nil {
			f = null
		}
		streams[i] = int(f.Fd())
	}
	image := s.run.proc.NewImage()
	control.CommandSteps(c, streams, narrowing, image)
	if s.Tamper != nil {
		image.Change(s.Tamper)
	}
	proc, err := s.run.proc.Spawn(image, streams)
	if err != nil {
		return nil, err
	}
	child := &Child{session: s, argv: c.Argv, proc: proc}
	if err = s.wake(ctx); err == nil { // while the command confines itself, and then waits
		err = child.confirm(c)
	}
	if err != nil {
		child.kill()
		proc.Close()
		if child.Terminal != nil {
			child.Terminal.Close()
		}
		return nil, err
	}
	return child, nil
}

// Processes are the processes inside, by their numbers outside, but the two that
// hold the session.
func (s *Session) Processes() (list []int) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	if s.ended {
		return nil
	}
	return s.processes()
}

func (s *Session) processes() (list []int) {
	todo := children(s.Init())
	for len(todo) > 0 {
		if !over(todo[0]) {
			list = append(list, todo[0])
		}
		todo = append(todo[1:], children(todo[0])...)
	}
	return list[min(1, len(list)):]
}

// Publish publishes a port, written as [ADDRESS:]HOSTPORT:PORT or as one PORT for
// both, until the session ends. An address that is not of the loopback needs
// anywhere. The error is a [*plan.Refusal].
func (s *Session) Publish(text string, anywhere bool) (plan.Published, error) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	if s.ended {
		return plan.Published{}, errEnded
	}
	published, err := s.Plan().Published(text, anywhere)
	if err != nil {
		return published, err
	}
	for p := range of[control.Publisher](s.run) {
		if err = p.Publish(published); err != nil {
			return published, err
		}
	}
	return published, nil
}

// Look looks at what the commands have left so far for git or an agent to run
// outside, and puts it aside. When nothing of them is alive, what changes until
// the next command is the person's.
func (s *Session) Look(ctx context.Context) (denials []record.Denial) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.idle {
		return nil
	}
	idle := s.running == 0 && s.alone()
	for r := range of[control.Resident](s.run) {
		denials = append(denials, r.Look(ctx, idle)...)
	}
	s.idle = idle
	return denials
}
