package control

import (
	"fmt"
)

// environment is what the command's execve gets: it was computed with the plan.
type environment struct{ *Job }

func (c *environment) Name() string { return "environment" }

func (c *environment) Plan() (string, bool) {
	return fmt.Sprintf("%d variables", len(c.Job.Plan.Env)), true
}
