package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"ethos/pkg/sandbox/plan"
)

// managedGit replaces git by ethos-git. Its trace store is mounted from ethos's directory.
type managedGit struct {
	*Job
	defaults
}

// Prepare creates the directory of the trace store.
func (c *managedGit) Prepare(context.Context) error {
	if !c.Plan.HasInsideTraces() {
		return nil
	}
	root, err := openOwn(c.Plan, c.Plan.Own)
	if err == nil {
		err = errors.Join(removeUnlike(root, plan.InsideTraces, fs.ModeDir), root.MkdirAll(plan.InsideTraces, 0o700), root.Close())
	}
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("trace store of managed git: %w", err), Hint: plan.OwnHint}
	}
	return nil
}
