package sandbox

import (
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// follow waits for the end of the command.
func (r *run) follow() (Outcome, error) {
	defer r.term.restore()
	done := make(chan struct{})
	defer close(done)
	go r.forward(done)
	var deadline time.Time
	if r.plan.Limits.Timeout > 0 {
		deadline = r.started.Add(r.plan.Limits.Timeout)
	}
	var out Outcome
	for {
		event, err := r.proc.Next(r.watch.soon(deadline))
		if err != nil {
			r.end()
			return out, err
		}
		switch event.Kind {
		case steps.Note:
			r.note(event.Err)
			continue
		case steps.Changed:
			if r.asked.Load() { // init is taking its own mounts away
				continue
			}
			if r.opened = r.recheck(); r.opened == nil {
				continue
			}
			r.end()
			out.Status, out.Signal = record.StatusSignaled, syscall.SIGKILL
		case steps.Stopped:
			r.term.stopped(event.Signal, r.proc)
			continue
		case steps.Failed:
			r.end()
			return out, stepRefusal(r.worstExec(event.Err))
		case steps.Readable, steps.Idle:
			late := event.Kind == steps.Idle && !deadline.IsZero() && !time.Now().Before(deadline)
			if !late && r.watch.tend() {
				continue
			}
			r.insisted = r.watch.failed
			r.end()
			out.Status, out.Signal = record.StatusSignaled, syscall.SIGKILL
			if late {
				out.Status = record.StatusTimeout
			}
		case steps.Gone:
			out.Status, out.Signal = record.StatusSignaled, syscall.SIGKILL
			if !r.asked.Load() {
				r.lost = r.fate() + " before it told how the command ended"
			}
		case steps.Exited:
			r.finished = true
			out.ended(event.Status)
		}
		return out, nil
	}
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
		case sig, ok := <-r.io.Signals:
			if !ok {
				return
			}
			if s, isSys := sig.(syscall.Signal); isSys {
				r.proc.Signal(s)
			}
		}
	}
}

// worstExec prefers a candidate that was there and could not be executed to one that was not there, as execvp(3) does.
func (r *run) worstExec(last error) error {
	for _, n := range r.notes {
		if n.Step.Stage == "exec" && n.Errno == syscall.EACCES {
			return n
		}
	}
	return last
}

// fate says what became of an init that ended without a last message.
func (r *run) fate() string {
	fate, err := r.proc.Fate(time.Now().Add(endLimit))
	if err != nil {
		return "init, which holds the sandbox, ended without a message: " + err.Error()
	}
	return fate.String()
}
