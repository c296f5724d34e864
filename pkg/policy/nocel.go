//go:build nocel

package policy

import "context"

// expression is an expression of a shipped policy. Without CEL it can only be evaluated directly.
type expression struct{ tree }

// eval panics with [ErrNeedsCEL].
func (x *expression) eval(context.Context, *activation, []string, Bounds) outcome {
	panic(ErrNeedsCEL)
}

// activation stands for the variables of a record, which only CEL reads.
type activation struct{}

func newActivation(*Input) *activation { return nil }

// rule panics with [ErrNeedsCEL].
func (f *file) rule(*written) *rule {
	panic(ErrNeedsCEL)
}

// taken panics with [ErrNeedsCEL].
func taken(string) bool {
	panic(ErrNeedsCEL)
}
