// Package exec carries out a plan: it starts the child, has the controls verify it, follows it to its end, and writes the evidence. It is a loop
// over the controls and knows none of them.
package exec

import (
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/view"
)

// Command is one command of a session.
type Command = control.Command

// IO is what a run has to do with its surroundings.
type IO = control.IO

// Outcome is how a command ended.
type Outcome struct {
	Status   string // exited | signaled | timeout | oom, as in a record
	ExitCode int
	Signal   syscall.Signal
	Started  time.Time
	Duration time.Duration
	Evidence record.Sandbox
	Writes   *record.Writes // what the command changed in a view; nil where it had none
	// Changes are all of them, as the view that outlasts the run has them.
	Changes []view.Change
	// Lost says that init ended without telling how the command had ended, though nobody asked it to: Status and Signal are then what became of the command, not what it
	// did, and the evidence has the reason.
	Lost bool
}

// Result is the outcome of a run as it stands in a record. capture has the streams; its evidence is filled in here.
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
