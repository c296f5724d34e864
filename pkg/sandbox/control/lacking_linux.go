package control

import (
	"ethos/pkg/record"
)

// lacking is the line of a control that a backend does not have: what is requested is not
// isolated. asked is "" if nothing is requested.
type lacking struct {
	*Job
	defaults
	name  string
	asked string
}

func (c *lacking) Name() string { return c.name }

func (c *lacking) Requested() (string, bool) { return c.asked, c.asked != "" }

func (c *lacking) Report(line record.Control) record.Control {
	if line.State != NotWanted {
		line.State, line.Enforced, line.Reason = Absent, "", "not isolated: the backend is "+c.Job.Plan.Backend
	}
	return line
}

func (c *lacking) Hint() string { return "omit --backend: the native backend has it" }
