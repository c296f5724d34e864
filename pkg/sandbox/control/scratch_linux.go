package control

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ethos/pkg/sandbox/plan"
)

// scratch is the private directory of a command that has no /tmp of its own: it is
// made for the run, and is gone when the run has ended. The caller's /tmp is not
// granted.
type scratch struct{ *Job }

func (c *scratch) Name() string { return "scratch" }

// Prepare makes it, and puts its path into the environment.
func (c *scratch) Prepare(context.Context) error {
	if c.Job.Plan.Backend != plan.Landlock {
		return nil
	}
	dir, err := filepath.EvalSymlinks(os.TempDir())
	if err == nil {
		dir, err = os.MkdirTemp(dir, "ethos-scratch-")
	}
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("private directory: %w", err), Hint: "set TMPDIR to a directory that you can write"}
	}
	c.Scratch = dir
	p := *c.Job.Plan
	p.Env = nil
	for _, entry := range c.Job.Plan.Env {
		p.Env = append(p.Env, strings.Replace(entry, "="+plan.Scratch, "="+dir, 1))
	}
	c.Job.Plan = &p
	return nil
}

// Close removes it. Nothing that could write to it is alive.
func (c *scratch) Close() {
	if c.Scratch == "" || os.RemoveAll(c.Scratch) == nil {
		return
	}
	_ = filepath.WalkDir(c.Scratch, func(path string, d fs.DirEntry, err error) error { // of what it took its own permissions
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700) // before it is listed
		}
		if err != nil {
			return fs.SkipDir
		}
		return nil
	})
	_ = os.RemoveAll(c.Scratch)
}
