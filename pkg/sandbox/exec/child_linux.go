package exec

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Child is a command of a session.
type Child struct {
	PID      int      // as numbered outside
	Terminal *os.File // the master of its terminal, which the receiver must close; nil if it has none
	Started  time.Time

	session   *Session
	command   Command
	proc      *steps.Process
	narrowing *control.Narrowing
	own       *control.Own
	verified  bool // it was the spare, and adds no confinement to the spare's
	mu        sync.Mutex
	over      bool // the PID may have been reused
	denials   []record.Denial
}

// Denials returns the limits that had an effect on the command and, in a session that
// observes its commands, what it asked for and was denied. It is complete when Wait has
// returned.
func (c *Child) Denials() []record.Denial { return c.denials }

// Killed returns the status of a record if a memory limit ended the command, else "". Wait
// must have returned.
func (c *Child) Killed() string { return c.own.Killed() }

// Unheld returns why the command's limit of processor time is not in force, else "".
func (c *Child) Unheld() string { return c.own.Unheld() }

// Evidence returns the evidence of the session with the limits and the usage of the
// command. Wait must have returned.
func (c *Child) Evidence() record.Sandbox {
	e := c.session.Evidence()
	c.own.Evidence(&e)
	return e
}

// begin has the command verified and lets it begin.
func (c *Child) begin() (err error) {
	if c.verified {
		if err = c.verifyOwn(); err == nil {
			err = c.release()
		}
	} else {
		err = c.confirm()
	}
	if err != nil {
		c.abandon()
		return control.CommandRefusal(err, c.command)
	}
	c.command = Command{Argv: c.command.Argv, Dir: c.command.Dir} // its streams are the caller's
	return nil
}

// abandon ends a command that has not begun.
func (c *Child) abandon() {
	c.kill()
	c.proc.Close()
	if c.Terminal != nil {
		c.Terminal.Close()
	}
	c.own.Close()
}

// confirm waits until the command is confined, compares it with the plan, and lets it
// begin.
func (c *Child) confirm() error {
	deadline := time.Now().Add(setupLimit)
	for {
		event, err := c.proc.Next(deadline)
		if err != nil {
			return err
		}
		switch event.Kind {
		case steps.Begins:
			err := c.proc.Held(event.CommandPID)
			if errors.Is(err, unix.ESRCH) { // it has failed already; an event with the reason follows
				continue
			}
			if c.PID = event.CommandPID; err != nil {
				return err
			}
		case steps.Handed:
			c.Terminal = os.NewFile(uintptr(event.FD), "terminal")
			size := &unix.Winsize{Row: c.command.Rows, Col: c.command.Cols}
			if err := unix.IoctlSetWinsize(event.FD, unix.TIOCSWINSZ, size); err != nil {
				return fmt.Errorf("terminal: ioctl TIOCSWINSZ: %w", err)
			}
		case steps.Waiting:
			if err := c.verify(); err != nil {
				return err
			}
			return c.release()
		case steps.Failed:
			return event.Err
		case steps.Idle:
			return plan.Refuse(plan.CodeSetup, "end the session and start it again: ethos-sandbox session end", "the session did not start the command within %v", setupLimit)
		case steps.Gone, steps.Exited:
			return errEnded
		}
	}
}

// release lets the command execute its program as soon as it is confined.
func (c *Child) release() error {
	for _, o := range c.session.run.controls {
		o.Oversee(c.PID)
	}
	c.Started = time.Now()
	c.own.Run(func() { c.session.killAll(c.PID, c.own) })
	return c.proc.Go()
}

// verify compares the waiting command with the plan.
func (c *Child) verify() error {
	status, err := c.session.verify(c.PID)
	if err != nil {
		return err
	}
	err = control.VerifyFilters(c.session.run.job, c.narrowing, status, func() (control.Status, error) {
		return control.ReadStatus(c.session.run.pid)
	})
	if err != nil {
		return different(err)
	}
	return c.verifyOwn()
}

// verifyOwn verifies what other commands can change, and what the command has of its own.
func (c *Child) verifyOwn() error {
	err := c.checkInherited()
	if err == nil {
		err = c.own.Verify(c.PID)
	}
	if err != nil {
		return different(err)
	}
	return nil
}

// verify compares a process that has the confinement of the session's commands with the
// plan.
func (s *Session) verify(pid int) (control.Status, error) {
	status, err := control.ReadStatus(pid)
	if err != nil {
		return status, err
	}
	for _, v := range s.run.controls {
		if err := v.Verify(status); err != nil {
			return status, different(err)
		}
	}
	return status, nil
}

// verifySpare verifies a spare. What it has of the plan it keeps until it is a command: it
// executes nothing before, and no process inside can trace it: ptrace(2), PR_SET_DUMPABLE.
func (s *Session) verifySpare(pid int) error {
	_, err := s.verify(pid)
	return err
}

// Wait waits for the end of the command itself; background processes that it left live on.
// The error is a [*plan.Refusal]: the command could not be executed and did not run, or the
// session ended meanwhile.
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
			return 0, control.CommandRefusal(worstExec(attempts, event.Err), c.command)
		case steps.Exited:
			return event.Status, nil
		case steps.Gone:
			return 0, errEnded
		}
	}
}

func (c *Child) gone() {
	for _, o := range c.session.run.controls {
		c.denials = append(c.denials, o.Overseen(c.PID)...)
	}
	c.own.Ended()
	c.denials = append(c.denials, c.own.Denials()...)
	c.mu.Lock()
	c.over = true
	c.proc.Close()
	c.mu.Unlock()
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if !c.own.Lasts() {
		return
	}
	select {
	case <-s.over:
		c.own.Settle(s.over)
	default:
		s.settling.Go(func() { c.own.Settle(s.over) })
	}
}

// Signal sends a signal to the command's process group. It is safe for concurrent use.
func (c *Child) Signal(sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return os.ErrProcessDone
	}
	c.awaitOwn()
	err := unix.Kill(-c.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		err = c.proc.Signal(sig)
	}
	return err
}

// ownLimit is how long awaitOwn waits: another command may have stopped the process.
const ownLimit = time.Second

// awaitOwn waits until a command that was the spare no longer drops what was sent to the spare.
// Right after that it has a terminal session of its own: setsid(2).
func (c *Child) awaitOwn() {
	for end := time.Now().Add(ownLimit); c.verified && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if own, err := unix.Getsid(c.PID); err != nil || own == c.PID {
			c.verified = false
		}
	}
}

// Kill kills the command, its process group and all its descendants. It does not find
// processes that have left the group and been orphaned. It is safe for concurrent use.
func (c *Child) Kill() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.kill()
	}
}

func (c *Child) kill() {
	if c.PID <= 0 || c.proc.Signal(0) != nil {
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
