package decide

import (
	"errors"
	"fmt"

	"ethos/pkg/policy"
)

// Error is an error in policies, or in what they are read from. Nothing was
// decided, and without its policies a program must allow nothing.
type Error struct {
	Err  error
	Hint string // the remedy
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func errorf(hint, format string, args ...any) error {
	return &Error{Err: fmt.Errorf(format, args...), Hint: hint}
}

// ErrorOf returns an error of policies as an [*Error], with its remedy; nil for
// nil.
func ErrorOf(err error) error {
	hint := "check --pack and --policy; nothing was decided"
	var told *Error
	switch {
	case err == nil, errors.As(err, &told):
		return err
	case policy.IsFault(err):
		hint = "fix the file, then run ethos-decide check; nothing was decided"
	}
	return &Error{Err: err, Hint: hint}
}
