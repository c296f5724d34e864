package control

import (
	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// filtered is the line of something that a backend without namespaces enforces by the
// system call filter, whose presence is verified: the command has none of what a namespace
// would separate.
type filtered struct {
	*Job
	defaults
	name, asked, held string
}

func (c *filtered) Name() string { return c.name }

func (c *filtered) Requested() (string, bool) { return c.asked, c.asked != "host" }

func (c *filtered) Report(line record.Control) record.Control {
	if line.State == Enforced {
		line.Enforced = c.held
	}
	return line
}

// Evidence reports the network as isolated, because a command that cannot create a socket
// reaches none.
func (c *filtered) Evidence(e *record.Sandbox, enforced bool) {
	if c.name == plan.ControlNetwork {
		e.NetworkIsolated = enforced
	}
}
