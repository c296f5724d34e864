package control

import (
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// timeout ends a run that exceeds its time limit. The supervisor measures it, outside, so
// nothing that the command does to its own clock, timers or priority changes it. time.Now
// reads CLOCK_MONOTONIC too, which setting the clock does not move.
type timeout struct {
	*Job
	defaults
	deadline time.Time // zero: no limit
}

func (c *timeout) Name() string { return "timeout" }

func (c *timeout) Requested() (string, bool) {
	limit := c.Job.Plan.Limits.Timeout
	return limit.String(), limit > 0
}

func (c *timeout) Run(*steps.Process) {
	if limit := c.Job.Plan.Limits.Timeout; limit > 0 {
		c.deadline = time.Now().Add(limit)
	}
}

func (c *timeout) Next() time.Time { return c.deadline }

// Tend ends the run at the deadline. Killing init kills all processes of the PID namespace,
// also those that called setsid(2): pid_namespaces(7).
func (c *timeout) Tend() *Ending {
	if c.deadline.IsZero() || time.Now().Before(c.deadline) {
		return nil
	}
	return &Ending{Status: record.StatusTimeout}
}

func (c *timeout) Evidence(e *record.Sandbox, enforced bool) { e.TimeoutEnforced = enforced }

func (c *timeout) Hint() string { return "set a limit with --timeout" }
