package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"ethos/pkg/sandbox/plan"
)

// managedGit is ethos-git in the place of git: its trace store is mounted from the directory of ethos.
type managedGit struct{ *Job }

func (c *managedGit) Name() string { return "managed git" }

// Prepare makes the directory of the trace store.
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
