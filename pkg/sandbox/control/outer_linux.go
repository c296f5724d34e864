package control

import (
	"slices"

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

// inOuter returns the controls of a command in the boundary around this process. What needs no
// namespace is done as elsewhere, but none of it counts as enforced: other processes of that
// boundary can end this process and what it watches.
func inOuter(j *Job) []Control {
	lack := func(name, asked string) Control { return &guest{Control: &lacking{Job: j, name: name, asked: asked}} }
	held := func(c Control, text string) Control { return &guest{Control: c, held: text} }
	return slices.Concat([]Control{
		lack("userns", "a user namespace of its own"), lack(plan.ControlWorkspace, ""), held(&inPlace{Job: j}, ""), held(&subreaper{Job: j}, "all that it starts ends with it"),
		lack("ipc", "an IPC namespace of its own"), lack("uts", "a UTS namespace of its own"), lack("cgroupns", "a cgroup namespace of its own"), lack(plan.ControlNetwork, j.Plan.Network),
		lack("egress", ""), lack("publish", ""), lack("ports", ""), lack("privileges", "no capability, no_new_privs"), lack("landlock", "the paths"), lack("seccomp", j.Plan.SeccompText()), lack("unix_sockets", "connect(2) to socket files"),
		lack(plan.ControlSigning, ""), lack("cgroup", j.cgroupText()),
	}, []Control{
		held(&rlimits{Job: j}, "each process is limited, and the memory of all is watched"), held(&timeout{Job: j}, "it is ended at the limit"), held(&output{Job: j}, "its output is cut at the limit"), lack("caches", ""), held(&environment{Job: j}, "it gets these only"),
		&stdio{Job: j}, &terminal{Job: j},
	})
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
