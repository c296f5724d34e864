package report

import (
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// Sink is one way out.
type Sink interface {
	// Action takes an entry. Its findings must be filled in.
	Action(e *trace.Entry) error
	// Output takes a piece of a running action's output.
	Output(id string, o record.Output) error
	// Bad takes the error line that stands for a line that was not valid.
	Bad(id string, e record.Error) error
	// Fresh says, before Close, how many findings and denials a baseline does not have.
	Fresh(n int)
	// Close writes what belongs at the end.
	Close() error
}
