package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"ethos/pkg/sandbox/plan"
	"ethos/pkg/statedir"
)

// agentState prepares the directories that a confined agent uses as its own. They are
// mounted from the state folder.
type agentState struct {
	*Job
	defaults
}

// Prepare creates the directories and, in them, the mount points of the user's settings.
func (c *agentState) Prepare(context.Context) error {
	for _, s := range c.Plan.AgentState {
		if err := c.ready(s); err != nil {
			return &plan.Refusal{
				Code: plan.CodeSetup, Err: fmt.Errorf("state of the agent: %w", err),
				Hint: "the state folder of ethos (~/.local/state/ethos, or in XDG_STATE_HOME) must belong to you alone and have free space",
			}
		}
	}
	return nil
}

// ready creates one directory. Earlier runs could write to it, so no link is followed out
// of it, and what they left under the name of a setting is ignored. A usable mount point
// stays, because another run may have a setting mounted on it.
func (c *agentState) ready(s plan.AgentState) error {
	path, err := statedir.Make(c.Plan.Getenv, plan.AgentsFolder, s.Space, s.Name)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(path)
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
