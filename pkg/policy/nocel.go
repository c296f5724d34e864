//go:build nocel

package policy

import "context"

// HandOver replaces this process, which has no CEL, with the program that has it, or ends it. It
// is called when an expression must be compiled or evaluated by CEL, and does not return.
var HandOver func()

// expression is an expression of a shipped policy. Without CEL it can only be evaluated directly.
type expression struct{ tree }

// eval hands over.
func (x *expression) eval(context.Context, *activation, []string, Bounds) outcome {
	HandOver()
	return outcome{code: CodeError, message: "there is no CEL"}
}

// activation stands for the variables of a record, which only CEL reads.
type activation struct{}

func newActivation(*Input) *activation { return nil }

// rule hands over.
func (f *file) rule(*written) *rule {
	HandOver()
	return nil
}
