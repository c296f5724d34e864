//go:build !linux

package control

import (
	"context"
	"errors"

	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/view"
)

// ViewPlace is what a view for a plan is made of.
func ViewPlace(*plan.Plan, string) view.Place { return view.Place{} }

// ApplyView applies changes of a view.
func ApplyView(context.Context, *view.View, func(string) string, []view.Change) view.Result {
	return view.Result{}
}

// KeepView copies what the command made or changed in a root of a view.
func KeepView(context.Context, *view.View, func(string) string, int, []view.Change, string) (view.Result, error) {
	return view.Result{}, errors.ErrUnsupported
}
