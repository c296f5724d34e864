package control

import (
	"context"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
)

// seccompControl loads the system call filters: seccomp(2).
type seccompControl struct {
	*Job
	filters []filter
}

func (c *seccompControl) Name() string { return "seccomp" }

func (c *seccompControl) Plan() (string, bool) { return c.Job.Plan.SeccompText(), true }

func (c *seccompControl) Prepare(context.Context) (err error) {
	c.filters, err = filters(c.Job.Plan, c.machine.readFile)
	c.Filters += len(c.filters)
	return err
}

// Steps load the filters with SECCOMP_SET_MODE_FILTER. no_new_privs must already be set.
func (c *seccompControl) Steps(at Phase, p *Program) {
	if at != Filters {
		return
	}
	for _, f := range c.filters {
		p.Command = append(p.Command, step("seccomp", "seccomp", unix.SYS_SECCOMP, f.name, steps.Int(seccomp.SetModeFilter), steps.Int(f.flags), steps.Ptr(f.program.Fprog())))
	}
}

// Verify checks that the mode is 2, a filter (linux/seccomp.h), and the number of filters.
// The number is shown since Linux 5.9 and includes filters around this process.
func (c *seccompControl) Verify(s Status) error {
	if got := s.field("Seccomp"); got != "2" {
		return fmt.Errorf("status field Seccomp is %q, not 2", got)
	}
	if n, err := strconv.Atoi(s.field("Seccomp_filters")); err != nil || n < c.Filters {
		return fmt.Errorf("status field Seccomp_filters is %q, not %d", s.field("Seccomp_filters"), c.Filters)
	}
	return nil
}

func (c *seccompControl) Evidence(e *record.Sandbox, enforced bool) { e.SeccompEnabled = enforced }
