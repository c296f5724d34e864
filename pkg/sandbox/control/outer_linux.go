package control

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/trust"
)

// OnlyOuter reports whether this process runs in the boundary of another ethos-sandbox in which no
// second one can be made. Whoever fakes that boundary around ethos-sandbox runs a command with no
// more than it has itself, and with evidence that says so.
func OnlyOuter() bool { return trust.Inside() && !mayMakeNamespaces() }

// mayMakeNamespaces reports whether the filters of this process let it ask for a user namespace. The
// kernel refuses this request as invalid and changes nothing: unshare(2) knows no CLONE_PARENT.
func mayMakeNamespaces() bool {
	return unix.Unshare(unix.CLONE_NEWUSER|unix.CLONE_PARENT) == unix.EINVAL
}

// cgroupText is what a cgroup would be asked for.
func (j *Job) cgroupText() string {
	if !j.Plan.WantsCgroup() {
		return ""
	}
	return j.Plan.Limits.Text()
}

// guest is a control of a command in the boundary around this process. Its line is never that of a
// control in force.
type guest struct {
	Control
	held string // what is done nevertheless
}

func (c *guest) Report(line record.Control) record.Control {
	if line = c.Control.Report(line); line.State == NotWanted {
		return line
	}
	line.State, line.Enforced, line.Reason = Absent, "", plan.OuterReason
	if c.held != "" {
		line.Reason += "; " + c.held
	}
	return line
}

func (c *guest) Hint() string { return plan.OuterHint }
