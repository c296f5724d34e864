package report

import (
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// Sink is one form of output.
type Sink interface {
	// Action adds an entry. Its findings must be set.
	Action(e *trace.Entry) error
	// Output adds a piece of a running action's output.
	Output(id string, o record.Output) error
	// Bad adds the error line for an invalid line.
	Bad(id string, e record.Error) error
	// Fresh sets, before Close, the number of findings and denials that are not
	// in a baseline.
	Fresh(n int)
	// Close writes the end of the output.
	Close() error
}
