package control

import (
	"fmt"
)

// environment is the environment of the command's execve. It is computed with the plan.
type environment struct {
	*Job
	defaults
}

func (c *environment) Name() string { return "environment" }

func (c *environment) Requested() (string, bool) {
	return fmt.Sprintf("%d variables", len(c.Job.Plan.Env)), true
}
