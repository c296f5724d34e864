// Package exec carries out a plan: it starts the child, has the controls verify it, follows
// it until it ends, and writes the evidence. It is a loop over the controls and knows none
// of them. Begin with [Run].
package exec

import (
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/view"
)

// Command is one command of a session.
type Command = control.Command

// IO connects a run with its surroundings.
type IO = control.IO

// Outcome is how a command ended.
type Outcome struct {
	Status   string // exited | signaled | timeout | oom, as in a record
	ExitCode int
	Signal   syscall.Signal
	Started  time.Time
	Duration time.Duration
	Evidence record.Sandbox
	Writes   *record.Writes // what the command changed in a view; nil without a view
	// Changes are all of these changes, in the form of a view that outlasts the run.
	Changes []view.Change
	// Lost says that init ended without reporting how the command had ended, although
	// nobody had asked it to end. Status and Signal then state what happened to the
	// command, not what it did, and the evidence has the reason.
	Lost bool
}

// nothingRan returns the outcome of a plan that this system cannot carry out.
func nothingRan(p *plan.Plan, err error) (Outcome, error) {
	e := plan.Requested(p)
	e.Denied, e.Reason = true, err.Error()
	return Outcome{Evidence: e}, err
}

// Result returns the outcome in the form of a record. capture holds the streams; its
// evidence is filled in here.
func (o Outcome) Result(capture record.Capture) record.Result {
	capture.Sandbox, capture.Writes = o.Evidence, o.Writes
	r := record.Result{
		Status: o.Status, ExitCode: o.ExitCode, Started: o.Started.UTC().Format(time.RFC3339Nano),
		DurationMS: float64(o.Duration.Microseconds()) / 1000, Capture: capture,
	}
	if o.Status != record.StatusExited {
		r.Signal = signalName(o.Signal)
	}
	return r
}
