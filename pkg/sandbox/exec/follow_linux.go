package exec

import (
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// follow waits for the end of the command.
func (r *run) follow() (Outcome, error) {
	done := make(chan struct{})
	defer close(done)
	go r.forward(done)
	var out Outcome
	for {
		event, err := r.proc.Next(r.next())
		if err != nil {
			r.end()
			return out, err
		}
		switch event.Kind {
		case steps.Note:
			r.note(event.Err)
			continue
		case steps.Changed:
			if r.ending = r.recheck(); r.ending == nil {
				continue
			}
			out.killed(r)
		case steps.Stopped:
			for _, c := range r.controls {
				c.Stopped(event.Signal, r.proc)
			}
			continue
		case steps.Failed:
			r.end()
			return out, control.StepRefusal(worstExec(r.job.Notes, event.Err), r.job.Plan.Argv)
		case steps.Readable, steps.Idle:
			if r.ending = r.tend(); r.ending == nil {
				continue
			}
			out.killed(r)
		case steps.Gone:
			out.Status, out.Signal = record.StatusSignaled, syscall.SIGKILL
			if !r.asked.Load() {
				r.lost = r.fate() + " before it reported how the command ended"
			}
		case steps.Exited:
			r.finished = true
			out.ended(event.Status)
		}
		return out, nil
	}
}

// next returns when a control must be called next; the zero time means never.
func (r *run) next() (first time.Time) {
	for _, c := range r.controls {
		if at := c.Next(); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// tend calls each control and returns the first reason to end the run, or nil.
func (r *run) tend() *control.Ending {
	for _, c := range r.controls {
		if ending := c.Tend(); ending != nil {
			return ending
		}
	}
	return nil
}

// recheck asks each control whether the boundary has changed.
func (r *run) recheck() *control.Ending {
	if r.asked.Load() { // init is unmounting its own mounts
		return nil
	}
	for _, c := range r.controls {
		if ending := c.Recheck(); ending != nil {
			return ending
		}
	}
	return nil
}

// killed ends the run because of a control.
func (o *Outcome) killed(r *run) {
	r.end()
	o.Status, o.Signal = r.ending.Status, syscall.SIGKILL
}

func (o *Outcome) ended(status syscall.WaitStatus) {
	if status.Signaled() {
		o.Status, o.Signal = record.StatusSignaled, status.Signal()
		return
	}
	o.Status, o.ExitCode = record.StatusExited, status.ExitStatus()
}

// forward passes signals on until the command has ended.
func (r *run) forward(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case sig, ok := <-r.job.IO.Signals:
			if !ok {
				return
			}
			if s, isSys := sig.(syscall.Signal); isSys {
				r.proc.Signal(s)
			}
		}
	}
}

// worstExec prefers the error of a candidate that exists but cannot be executed to that of
// a missing one, as execvp(3) does.
func worstExec(notes []*steps.StepError, last error) error {
	for _, n := range notes {
		if n.Step.Stage == "exec" && n.Errno == syscall.EACCES {
			return n
		}
	}
	return last
}

// fate describes the end of an init that sent no last message.
func (r *run) fate() string {
	fate, err := r.proc.Fate(time.Now().Add(endLimit))
	if err != nil {
		return "the init of the sandbox ended without a message: " + err.Error()
	}
	return fate.String()
}

// announced calls IO.Began with the PID of the process that waits to begin, unless err is
// set.
func (r *run) announced(err error) error {
	if tell := r.job.IO.Began; err == nil && tell != nil {
		if err := tell(r.pid); err != nil {
			return &plan.Refusal{Code: plan.CodeSetup, Err: err}
		}
	}
	return err
}
