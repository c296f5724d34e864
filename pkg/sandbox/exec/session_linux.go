package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

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
	close(s.began)
}

// end waits for those who use the session's process, and lets nobody begin to.
func (s *Session) end() {
	s.alive.Lock()
	s.ended = true
	s.alive.Unlock()
}

// Plan is the plan in force.
func (s *Session) Plan() *plan.Plan { return s.run.job.Plan }

// Init is the first process of the session's PID namespace, by its number outside.
func (s *Session) Init() int { return s.run.proc.PID }

// Evidence is that of the boundary as it was verified when the session began.
func (s *Session) Evidence() record.Sandbox { return s.evidence }

// Done is closed when nothing is alive inside any more, and nothing is left.
func (s *Session) Done() <-chan struct{} { return s.done }

// End ends everything inside: [Session.Wait] returns then.
func (s *Session) End() { s.cancel() }

// Wait waits for the end of the session and says how it ended.
func (s *Session) Wait() (Outcome, error) {
	<-s.done
	return s.outcome, s.err
}

// Child is a command of a session.
type Child struct {
	PID      int      // outside
	Terminal *os.File // the master of its terminal, which is the receiver's to close; nil where it has none
	Started  time.Time

	session *Session
	proc    *steps.Process
	mu      sync.Mutex
	over    bool // its number may be another's
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
	if s.idle {
		for r := range of[control.Resident](s.run) {
			if err := r.Wake(ctx); err != nil {
				return nil, err
			}
		}
		s.idle = false
	}
	child, err := s.spawn(c)
	if err != nil {
		return nil, control.CommandRefusal(err, c)
	}
	s.running++
	return child, nil
}

// spawn starts a command and has it verified.
func (s *Session) spawn(c Command) (*Child, error) {
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
	control.CommandSteps(c, image)
	if s.Tamper != nil {
		image.Change(s.Tamper)
	}
	proc, err := s.run.proc.Spawn(image, streams)
	if err != nil {
		return nil, err
	}
	child := &Child{session: s, proc: proc}
	if err := child.confirm(c); err != nil {
		child.kill()
		proc.Close()
		if child.Terminal != nil {
			child.Terminal.Close()
		}
		return nil, err
	}
	return child, nil
}

// confirm waits for the command, compares it with the plan, and lets it go.
func (c *Child) confirm(command Command) error {
	deadline := time.Now().Add(setupLimit)
	for {
		event, err := c.proc.Next(deadline)
		if err != nil {
			return err
		}
		switch event.Kind {
		case steps.Begins:
			c.PID = event.CommandPID
			if err := c.proc.Held(c.PID); err != nil {
				return err
			}
		case steps.Handed:
			c.Terminal = os.NewFile(uintptr(event.FD), "terminal")
			size := &unix.Winsize{Row: command.Rows, Col: command.Cols}
			if err := unix.IoctlSetWinsize(event.FD, unix.TIOCSWINSZ, size); err != nil {
				return fmt.Errorf("terminal: ioctl TIOCSWINSZ: %w", err)
			}
		case steps.Waiting:
			if err := c.verify(); err != nil {
				return err
			}
			c.Started = time.Now()
			return c.proc.Go()
		case steps.Failed:
			return event.Err
		case steps.Idle:
			return plan.Refuse(plan.CodeSetup, "end the session and start it again: ethos-sandbox session end", "the session did not start the command within %v", setupLimit)
		case steps.Gone, steps.Exited:
			return errEnded
		}
	}
}

// verify compares the waiting command with the plan.
func (c *Child) verify() error {
	status, err := control.ReadStatus(c.PID)
	if err != nil {
		return err
	}
	for v := range of[control.Verifier](c.session.run) {
		if err := v.Verify(status); err != nil {
			return different(err)
		}
	}
	return nil
}

// Wait waits for the end of the command itself; what it left in the background
// lives on. The error is a [*plan.Refusal]: the command could not be executed and
// did not run, or the session ended under it.
func (c *Child) Wait() (syscall.WaitStatus, error) {
	defer c.gone()
	var attempts []*steps.StepError
	for {
		event, err := c.proc.Next(time.Time{})
		if err != nil {
			return 0, &plan.Refusal{Code: plan.CodeSetup, Err: err}
		}
		var step *steps.StepError
		switch event.Kind {
		case steps.Note:
			if errors.As(event.Err, &step) {
				attempts = append(attempts, step)
			}
		case steps.Failed:
			return 0, control.StepRefusal(worstExec(attempts, event.Err))
		case steps.Exited:
			return event.Status, nil
		case steps.Gone:
			return 0, errEnded
		}
	}
}

func (c *Child) gone() {
	c.mu.Lock()
	c.over = true
	c.proc.Close()
	c.mu.Unlock()
	c.session.mu.Lock()
	c.session.running--
	c.session.mu.Unlock()
}

// Signal sends a signal to the command's process group. Safe for concurrent use.
func (c *Child) Signal(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return os.ErrProcessDone
	}
	err := unix.Kill(-c.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		err = c.proc.Signal(sig)
	}
	return err
}

// Kill ends the command, its process group, and all that descends from it. What
// has left the group and was orphaned is not found. Safe for concurrent use.
func (c *Child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.kill()
	}
}

func (c *Child) kill() {
	if c.PID <= 0 {
		return
	}
	below := descendants(c.PID)
	unix.Kill(-c.PID, unix.SIGKILL)
	c.proc.Signal(unix.SIGKILL)
	for _, fd := range below {
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		unix.Close(fd)
	}
}

// descendants are pidfds of what descends from a process.
func descendants(pid int) (fds []int) {
	for _, child := range children(pid) {
		if fd, err := unix.PidfdOpen(child, 0); err == nil {
			fds = append(fds, fd)
			fds = append(fds, descendants(child)...)
		}
	}
	return fds
}

// children are those of every thread of a process: proc(5), task/TID/children.
func children(pid int) (list []int) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, task := range tasks {
		text, err := os.ReadFile(dir + "/" + task.Name() + "/children")
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
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
		list = append(list, todo[0])
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
	idle := s.running == 0 && len(s.processes()) == 0
	for r := range of[control.Resident](s.run) {
		denials = append(denials, r.Look(ctx, idle)...)
	}
	s.idle = idle
	return denials
}
