package control

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// inPlace is the root of a command without a mount namespace: the host's root, and the
// working directory in it.
type inPlace struct {
	*Job
	defaults
}

func (c *inPlace) Name() string { return "mount" }

func (c *inPlace) Requested() (string, bool) { return "a root of its own", true }

func (c *inPlace) Steps(at Phase, p *Program) {
	if dir := c.Job.Plan.Dir; at == Place {
		p.Command = append(p.Command, step("mount", "chdir", unix.SYS_CHDIR, dir, steps.Str(dir)))
	}
}

// beyondPaths names what Landlock has no right for: landlock(7), "Current limitations".
const beyondPaths = "only Landlock restricts the paths. It does not restrict stat(2), nor changes of mode, owner, times and attributes of the caller's files"

func (c *inPlace) Report(line record.Control) record.Control {
	line.State, line.Enforced, line.Reason = Absent, "", "not isolated: "+beyondPaths
	if c.Job.Plan.Backend == plan.None {
		line.Reason = "not isolated: the backend is none"
	}
	return line
}

func (c *inPlace) Hint() string { return "omit --backend: the native backend has it" }
