//go:build !linux

package control

import (
	"context"
	"errors"

	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/view"
)

// ViewPlace returns an empty place on this system.
func ViewPlace(*plan.Plan, string) view.Place { return view.Place{} }

// ApplyView does nothing on this system.
func ApplyView(context.Context, *view.View, func(string) string, []view.Change) view.Result {
	return view.Result{}
}

// KeepView returns [errors.ErrUnsupported].
func KeepView(context.Context, *view.View, func(string) string, int, []view.Change, string) (view.Result, error) {
	return view.Result{}, errors.ErrUnsupported
}
