package control

import (
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// uts is a UTS namespace with its own host name: uts_namespaces(7).
type uts struct{ namespace }

func newUTS(j *Job) *uts { return &uts{newNamespace(j, "uts", "uts", "uts", unix.CLONE_NEWUTS)} }

func (c *uts) Steps(at Phase, p *Program) {
	c.namespace.Steps(at, p)
	if at != InitInside || c.Wrapped {
		return
	}
	name := c.Job.Plan.Hostname
	s := step("uts", "sethostname", unix.SYS_SETHOSTNAME, name, steps.Str(name), steps.Int(len(name)))
	s.Tolerate = []syscall.Errno{syscall.EPERM} // podman's default filter
	p.Init = append(p.Init, s)
}

// Report marks the line as degraded if the host name could not be set. The filters of
// container engines deny sethostname(2) to callers without CAP_SYS_ADMIN outside.
func (c *uts) Report(line record.Control) record.Control {
	return c.degrade(line, "sethostname", "the machine's name is visible inside")
}
