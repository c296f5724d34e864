package control

import (
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// filtered is the line of what a backend without namespaces holds by the system call
// filter, whose number is verified: there is none of what a namespace would separate.
type filtered struct {
	*Job
	name, asked, held string
}

func (c *filtered) Name() string { return c.name }

func (c *filtered) Plan() (string, bool) { return c.asked, c.asked != "host" }

func (c *filtered) Report(line record.Control) record.Control {
	if line.State == Enforced {
		line.Enforced = c.held
	}
	return line
}

// Evidence: a command that makes no socket reaches no network.
func (c *filtered) Evidence(e *record.Sandbox, enforced bool) {
	if c.name == plan.ControlNetwork {
		e.NetworkIsolated = enforced
	}
}
