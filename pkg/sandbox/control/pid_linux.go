package control

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
)

// pid is a PID namespace, in which init supervises the sandbox.
type pid struct{ namespace }

func newPID(j *Job) *pid {
	return &pid{newNamespace(j, "pid", "pid", "pid", unix.CLONE_NEWPID)}
}

// Steps make init die with its parent and move it out of its process group, so that kill(0)
// and the terminal's signals do not cross the boundary.
func (c *pid) Steps(at Phase, p *Program) {
	c.namespace.Steps(at, p)
	if at == InitStarts && c.Wrapped { // the first process of the namespace waits for init: see steps.Inside
		p.Init = append(p.Init, prctl("init", "PR_SET_CHILD_SUBREAPER", steps.Int(unix.PR_SET_CHILD_SUBREAPER), steps.Int(1), steps.Int(0), steps.Int(0), steps.Int(0)))
	}
	if at == InitStarts {
		p.Init = append(p.Init,
			prctl("init", "PR_SET_PDEATHSIG", steps.Int(unix.PR_SET_PDEATHSIG), steps.Int(steps.ParentDied)),
			prctl("init", "PR_SET_NAME", steps.Int(unix.PR_SET_NAME), steps.Str(steps.InitName)),
			step("init", "setpgid", unix.SYS_SETPGID, "", steps.Int(0), steps.Int(0)))
	}
}

// Verify checks that the command is PID 2 in a PID namespace one level down. A later
// command of a session may have any PID there except 1, as may one below the threads of
// the first process.
func (c *pid) Verify(s Status) error {
	pids := strings.Fields(s.field("NSpid"))
	if (c.Spawns && c.Verified || c.Wrapped) && len(pids) >= 2 && pids[len(pids)-1] != "1" {
		return nil
	}
	if len(pids) < 2 || pids[len(pids)-1] != "2" {
		return fmt.Errorf("NSpid is %q, not PID 2 of a namespace of its own", s.field("NSpid"))
	}
	return nil
}

func (c *pid) Evidence(e *record.Sandbox, enforced bool) { e.ProcessIsolated = enforced }
