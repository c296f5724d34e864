package control

import (
	"fmt"

	"ethos/pkg/record"
)

// output is the bound of what the command may write to its standard output and error, where someone reads them.
type output struct{ *Job }

func (c *output) Name() string { return "output" }

func (c *output) Plan() (string, bool) {
	return fmt.Sprintf("%d bytes", c.Job.Plan.Limits.OutputBytes), c.IO.Captured && c.Job.Plan.Limits.OutputBytes > 0
}

// Report: whoever reads the output bounds it, whatever became of the run.
func (c *output) Report(line record.Control) record.Control {
	if line.State == Absent {
		line.State, line.Enforced, line.Reason = Enforced, line.Requested, ""
	}
	return line
}

func (c *output) Hint() string {
	return "let it be a record in the pipe: only there ethos-sandbox reads the command's output"
}
