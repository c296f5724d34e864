package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Session is a boundary for several commands. Its first process is confined and verified
// like the command of a run. It then clones the commands, which inherit its confinement.
type Session struct {
	// Tamper is for tests: it changes the calls of a command before they are made.
	Tamper func([]steps.Step)

	run      *run
	cancel   context.CancelFunc
	began    chan struct{}
	over     chan struct{} // closed under mu, when the run has ended
	done     chan struct{}
	outcome  Outcome
	err      error
	evidence record.Sandbox
	spawner  int // a pidfd
	// inherited are the resource limits of the process that starts commands.
	inherited rlimits

	settling sync.WaitGroup // commands that have ended, but not all that they started; grows under mu, until over is closed
	alive    sync.RWMutex   // held for writing when the session ends; whoever holds it for reading may use its process
	ended    bool

	mu      sync.Mutex // commands are started one at a time
	running int
	idle    bool
	spares  bool            // commands need no cgroups of their own
	unsaid  []record.Denial // found when a command had not started
}

// Start starts a session of a plan. The plan's Argv and time limit are ignored. It returns
// when commands can be started. The error is a [*plan.Refusal]; in that case nothing is
// left behind.
func Start(ctx context.Context, p *plan.Plan, io IO) (*Session, error) {
	if p.Backend != "" {
		return nil, plan.Refuse(plan.CodeUnsupported, "ethos-sandbox run --backend "+p.Backend+", for each command", "the backend %s has no sessions", p.Backend)
	}
	q := *p
	q.Limits.Timeout = 0
	inside, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Session{cancel: cancel, began: make(chan struct{}), over: make(chan struct{}), done: make(chan struct{})}
	x := &Runner{Plan: &q, IO: io, hooks: hooks{began: s.begin, ends: s.end}}
	go func() {
		s.outcome, s.err = x.Run(inside)
		cancel()
		s.mu.Lock()
		close(s.over)
		s.mu.Unlock()
		s.settling.Wait()
		close(s.done)
	}()
	select {
	case <-s.began:
		return s, nil
	case <-s.done:
		if s.err == nil {
			s.err = plan.Refuse(plan.CodeSetup, "", "the session ended while it was starting")
		}
		return nil, s.err
	case <-ctx.Done():
		cancel()
		<-s.done
		return nil, &plan.Refusal{Code: plan.CodeSetup, Err: ctx.Err()}
	}
}

func (s *Session) begin(r *run) {
	s.run, s.evidence = r, r.evidence(nil)
	s.inherited, _ = rlimitsOf(r.pid) // on an error, no command passes [Child.checkInherited]
	if fd, err := unix.PidfdOpen(r.pid, 0); err == nil {
		s.spawner = fd
	}
	close(s.began)
}

// end waits for those who use the session's process, and admits no others.
func (s *Session) end() {
	s.alive.Lock()
	defer s.alive.Unlock()
	if s.ended = true; s.spawner > 0 {
		unix.Close(s.spawner)
		s.spawner = 0
	}
}

// Plan returns the plan in force.
func (s *Session) Plan() *plan.Plan { return s.run.job.Plan }

// Init returns the PID, as numbered outside, of the first process in the session's PID
// namespace.
func (s *Session) Init() int { return s.run.proc.PID }

// Evidence returns the evidence of the boundary, as verified when the session began.
func (s *Session) Evidence() record.Sandbox { return s.evidence }

// Done returns a channel that is closed when nothing is alive inside any more and
// everything has been cleaned up.
func (s *Session) Done() <-chan struct{} { return s.done }

// End ends everything inside; [Session.Wait] then returns. The session ends like a run
// whose command has ended: what is left is examined and cleaned up by this process, which
// knows what belongs to whom.
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

// Wait waits until the session has ended, and returns how it ended.
func (s *Session) Wait() (Outcome, error) {
	<-s.done
	return s.outcome, s.err
}

// errEnded is the error of using a session that has ended.
var errEnded = &plan.Refusal{Code: plan.CodeSetup, Err: errors.New("the session has ended"), Hint: "start it again: ethos-sandbox session start"}

// CheckNarrow reports whether a command of a session with this plan can be narrowed so, with
// the rules of its own process. The error is a [*plan.Refusal].
func CheckNarrow(p *plan.Plan, n control.Narrow) error {
	_, err := control.Narrowed(p, n)
	return err
}

// Spawn starts a command. The error is a [*plan.Refusal]: the command did not run.
func (s *Session) Spawn(ctx context.Context, c Command) (*Child, error) {
	return s.SpawnFrom(ctx, func() (Command, error) { return c, nil })
}

// SpawnFrom starts the command that a function returns, or returns its error.
func (s *Session) SpawnFrom(ctx context.Context, command func() (Command, error)) (*Child, error) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil, errEnded
	}
	child, err := s.clone(command)
	if fault := s.wake(ctx); fault != nil { // the command confines itself meanwhile
		if err == nil {
			child.abandon()
		}
		err = fault
	}
	if err == nil {
		err = child.begin()
	}
	if err != nil {
		s.unsaid = append(s.unsaid, s.look(ctx)...)
		return nil, err
	}
	s.running++
	return child, nil
}

// Expect says that a command will probably be requested within some milliseconds, so that
// what the first one after an idle time needs can begin. It takes as long as that does.
func (s *Session) Expect(ctx context.Context) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	if s.ended {
		return
	}
	for _, e := range s.run.controls {
		e.Expect(ctx)
	}
}

// Prepare prepares the start of the next command, and frees what the last one no longer needs.
// Without it, the next start takes a little longer.
func (s *Session) Prepare() {
	s.alive.RLock()
	defer s.alive.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.spares {
		_ = s.run.proc.Prepare(s.verifySpare)
	}
	if s.idle {
		for _, r := range s.run.controls {
			r.Rest()
		}
	}
}

// Spare returns the PID, as numbered outside, of the process that waits to become the next
// command, or 0.
func (s *Session) Spare() int {
	s.alive.RLock()
	defer s.alive.RUnlock()
	if s.ended {
		return 0
	}
	return s.run.proc.Spare()
}

// wake makes the controls start anew after an idle time, because what has changed meanwhile
// is the user's. It must return before a command may begin.
func (s *Session) wake(ctx context.Context) error {
	if !s.idle {
		return nil
	}
	for _, r := range s.run.controls {
		if err := r.Wake(ctx); err != nil {
			s.End()
			return &plan.Refusal{Code: plan.CodeStale, Err: fmt.Errorf("the session no longer matches the file system, and ends: %w", err), Hint: "start it again: ethos-sandbox session start"}
		}
	}
	s.idle = false
	return nil
}

// clone clones a command, which confines itself and then waits.
func (s *Session) clone(command func() (Command, error)) (*Child, error) {
	c, err := command()
	if err != nil {
		return nil, err
	}
	if err := control.CheckStreams(s.Plan(), c); err != nil {
		return nil, err
	}
	narrowing, err := control.Narrowed(s.Plan(), c.Narrow)
	if err != nil {
		return nil, err
	}
	own, err := control.NewOwn(s.run.job, control.Inside{Init: s.Init(), Spawner: s.run.pid}, c.Limits, c.MustCgroup)
	if err != nil {
		return nil, err
	}
	child := &Child{session: s, command: c, narrowing: narrowing, own: own}
	if err := s.cloneConfined(child); err != nil {
		own.Close()
		if errors.Is(err, unix.EPIPE) { // nothing is alive inside
			return nil, errEnded
		}
		return nil, control.CommandRefusal(err, c)
	}
	return child, nil
}

// cloneConfined clones a command's process, or has the spare become it.
func (s *Session) cloneConfined(child *Child) (err error) {
	c := child.command
	var streams [3]int
	for i, f := range c.Streams {
		if f == nil {
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer null.Close()
			f = null
		}
		streams[i] = int(f.Fd())
	}
	spare := s.run.proc.TakeSpare()
	child.verified = spare != nil && !c.Terminal && child.narrowing == nil && len(s.run.job.CommandFilters) == 0
	if child.proc, err = s.run.proc.Spawn(s.image(child, streams), streams, spare); errors.Is(err, steps.ErrSpare) {
		child.verified = false
		child.proc, err = s.run.proc.Spawn(s.image(child, streams), streams, nil)
	}
	if err == nil {
		child.PID = child.proc.PID
	}
	return err
}

func (s *Session) image(child *Child, streams [3]int) *steps.Image {
	image := s.run.proc.NewImage()
	control.CommandSteps(child.command, streams, child.narrowing, child.own, !child.verified, image)
	if s.Tamper != nil {
		image.Change(s.Tamper)
	}
	s.spares = image.CgroupFD == 0
	return image
}

// Processes returns the PIDs, as numbered outside, of the processes inside, except the two
// that maintain the session.
func (s *Session) Processes() (list []int) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	if s.ended {
		return nil
	}
	return s.processes()
}

func (s *Session) processes() (list []int) {
	todo, spare := children(s.Init()), s.run.proc.Spare()
	for len(todo) > 0 {
		if todo[0] != spare && !over(todo[0]) {
			list = append(list, todo[0])
		}
		todo = append(todo[1:], children(todo[0])...)
	}
	return list[min(1, len(list)):]
}

// Publish publishes a port, written as [ADDRESS:]HOSTPORT:PORT or as one PORT for both,
// until the session ends. An address other than loopback needs anywhere. The error is a
// [*plan.Refusal].
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
	for _, p := range s.run.controls {
		if err = p.Publish(published); err != nil {
			return published, err
		}
	}
	return published, nil
}

// Look examines what the commands have left so far for git or an agent to run outside, and
// quarantines it. If none of their processes is alive, what changes until the next command
// is the user's.
func (s *Session) Look(ctx context.Context) (denials []record.Denial) {
	s.alive.RLock()
	defer s.alive.RUnlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	denials, s.unsaid = s.unsaid, nil
	return append(denials, s.look(ctx)...)
}

func (s *Session) look(ctx context.Context) (denials []record.Denial) {
	if s.ended || s.idle {
		return nil
	}
	idle := s.running == 0 && s.alone()
	for _, r := range s.run.controls {
		denials = append(denials, r.Look(ctx, idle)...)
	}
	s.idle = idle
	return denials
}
