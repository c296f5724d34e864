package exec

import (
	"slices"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/plan"
)

// evidence returns what was requested and what is known to have been in force. Before the
// state has been read back, nothing is.
func (r *run) evidence(failure error) record.Sandbox {
	e := plan.Requested(r.job.Plan)
	e.Controls = r.lines()
	e.Usage = r.used()
	if failure != nil {
		e.Denied, e.Reason = true, failure.Error()
	}
	if r.lost != "" {
		e.Reason = r.lost
	}
	for _, c := range r.controls {
		c.Evidence(&e, slices.ContainsFunc(e.Controls, func(line record.Control) bool { return line.Name == c.Name() && line.State == control.Enforced }))
	}
	if r.ending != nil && r.ending.Layer != "" {
		e.Reason = r.ending.Why + r.ending.Reason
		e.Denials = append(e.Denials, record.Denial{Layer: r.ending.Layer, What: "the rest of the run", Reason: r.ending.Reason})
	}
	return e
}

// lines returns the line of each control, in the order of [plan.Controls].
func (r *run) lines() []record.Control {
	var lines []record.Control
	for _, c := range r.controls {
		if line, ok := control.Line(c, r.job.Verified); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

// used returns the resource usage of init and everything that it reaped: getrusage(2).
// Memory is that of the largest process. A control may replace it by a better measurement.
func (r *run) used() record.Usage {
	cpu := time.Duration(r.usage.Utime.Nano() + r.usage.Stime.Nano())
	u := record.Usage{
		PeakMemoryBytes: int64(r.usage.Maxrss) << 10, CPUSeconds: cpu.Seconds(),
		ReadBytes: int64(r.usage.Inblock) * 512, WriteBytes: int64(r.usage.Oublock) * 512, MeasuredBy: "rusage",
	}
	for _, c := range r.controls {
		u = c.Measure(u)
	}
	return u
}

// required refuses a run in which a control that is required by name is not in full force.
func (r *run) required() error {
	if len(r.job.Plan.Require) == 0 {
		return nil
	}
	for _, line := range r.lines() {
		if slices.Contains(r.job.Plan.Require, line.Name) && line.State != control.Enforced {
			why := ""
			if line.Reason != "" {
				why = ": " + line.Reason
			}
			return plan.Refuse(plan.CodeRequire, r.hint(line.Name), "required control %s is %s%s", line.Name, line.State, why)
		}
	}
	return nil
}

// hint says how to get a control that was not requested or that the machine does not provide in full.
func (r *run) hint(name string) string {
	for _, c := range r.controls {
		if hint := c.Hint(); c.Name() == name && hint != "" {
			return hint
		}
	}
	return "ethos-sandbox probe shows what this machine can enforce"
}
