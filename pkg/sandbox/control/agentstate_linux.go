package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"ethos/pkg/sandbox/plan"
)

// agentState is the directories that a confined agent takes for its own: they are
// mounted from the directory of ethos.
type agentState struct{ *Job }

func (c *agentState) Name() string { return "agent state" }

// Prepare makes the directories, and in them what the person's settings are
// mounted over.
func (c *agentState) Prepare(context.Context) error {
	if len(c.Plan.AgentState) == 0 {
		return nil
	}
	root, err := openOwn(c.Plan, c.Plan.Own)
	if err == nil {
		defer root.Close()
	}
	for _, s := range c.Plan.AgentState {
		if err == nil {
			err = readyState(root, s)
		}
	}
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: fmt.Errorf("state of the agent: %w", err), Hint: plan.OwnHint}
	}
	return nil
}

// readyState makes one directory. Earlier runs wrote to it: no link is followed
// out of it, and what they left under the name of a setting does not count. What
// can stay does, for it may be what a setting is mounted over in another run.
func readyState(own *os.Root, s plan.AgentState) error {
	if err := errors.Join(removeUnlike(own, filepath.Dir(s.Dir), fs.ModeDir), removeUnlike(own, s.Dir, fs.ModeDir), own.MkdirAll(s.Dir, 0o700)); err != nil {
		return err
	}
	dir, err := own.OpenRoot(s.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, setting := range s.Settings {
		if err := readySetting(dir, setting); err != nil {
			return err
		}
	}
	return nil
}

func readySetting(dir *os.Root, s plan.AgentSetting) error {
	info, err := dir.Lstat(s.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	if there && s.Shown && (s.Dir && info.IsDir() || !s.Dir && info.Mode().IsRegular()) {
		return nil
	}
	if there {
		if err := dir.RemoveAll(s.Name); err != nil {
			return err
		}
	}
	switch {
	case !s.Shown:
		return nil
	case s.Dir:
		return dir.Mkdir(s.Name, 0o700)
	}
	f, err := dir.OpenFile(s.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
