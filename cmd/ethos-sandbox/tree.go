package main

import (
	"context"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/proof"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// watch records the content of the workspace before and after a run; nil does
// nothing.
type watch struct {
	ctx    context.Context
	sys    *cli.System
	plan   *sandbox.Plan
	id     string // of the record
	before *proof.Watch
}

// key returns the id of the record that gets the result, or "" if there is
// none.
func (r *recorded) key() string {
	if r == nil {
		return ""
	}
	return r.id
}

func watchTree(ctx context.Context, sys *cli.System, plan *sandbox.Plan, id string) *watch {
	ctx = context.WithoutCancel(ctx) // signals are for the command
	return &watch{ctx, sys, plan, id, proof.Begin(ctx, sys.Getenv, plan.Workspace)}
}

// end adds the recorded content to the result of the run, under a seal.
func (w *watch) end(result *record.Result) {
	if w == nil {
		return
	}
	tree := w.before.End(w.ctx)
	tree.Argv, tree.Dir, tree.Variables = w.plan.Argv, w.plan.Dir, w.plan.Telling()
	result.Capture.Tree = tree
	if err := proof.Seal(w.sys.Getenv, w.id, result); err != nil && tree.Reason == "" {
		tree.Reason = err.Error()
	}
	if tree.Reason != "" {
		w.sys.Warn("the run cannot be used as proof: "+printable.Line(tree.Reason), "fix that, and run the command again")
	}
}
