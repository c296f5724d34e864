package control

import (
	"context"
	"slices"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/plan"
)

// portsABI is the first Landlock ABI with rights on ports, Linux 6.7.
const portsABI = 4

// ports limit the TCP ports that the command can connect to and bind. The rules are those
// of landlockControl; the filter that allows only TCP is that of seccompControl.
type ports struct {
	*Job
	defaults
}

func (c *ports) Name() string { return "ports" }

func (c *ports) Requested() (string, bool) {
	if c.Job.Plan.Ports == nil {
		return "", false
	}
	return c.Job.Plan.Ports.String(), true
}

// Prepare refuses a run if nothing can enforce its ports.
func (c *ports) Prepare(context.Context) error {
	if c.Job.Plan.Ports == nil {
		return nil
	}
	if kernel, err := landlock.Probe(); err != nil || kernel.ABI < portsABI {
		return plan.Refuse(plan.CodeUnsupported, "use Linux 6.7 or newer with Landlock, or limit the network with --net loopback or --allow-domain NAME:PORT", "rules on ports need ABI %d of Landlock", portsABI)
	}
	return nil
}

// Hint says how to get limits that are fully enforced.
func (c *ports) Hint() string {
	return "if ports are required, include --allow-bind 0 among the ports to bind"
}

// Report names the case for which the kernel has no rule.
func (c *ports) Report(line record.Control) record.Control {
	if line.State != Enforced {
		return line
	}
	if bind := c.Job.Plan.Ports.Bind; len(bind) > 0 && !slices.Contains(bind, "0") {
		line.State, line.Reason = Degraded, "listen(2) on an unbound socket takes a port that the kernel chooses: Landlock does not restrict it"
	}
	return line
}
