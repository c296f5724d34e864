package control

import (
	"fmt"

	"ethos/pkg/record"
)

// output is the limit on what the command writes to standard output and standard error, if
// they are captured.
type output struct {
	*Job
	defaults
}

func (c *output) Name() string { return "output" }

func (c *output) Requested() (string, bool) {
	return fmt.Sprintf("%d bytes", c.Job.Plan.Limits.OutputBytes), c.IO.Captured && c.Job.Plan.Limits.OutputBytes > 0
}

// Report marks the control as enforced even if nothing else was verified, because whoever
// reads the output limits it.
func (c *output) Report(line record.Control) record.Control {
	if line.State == Absent {
		line.State, line.Enforced, line.Reason = Enforced, line.Requested, ""
	}
	return line
}

func (c *output) Hint() string {
	return "send it as a record through the pipe: only there does ethos-sandbox read the command's output"
}
