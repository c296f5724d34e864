package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// seccompControl loads the system call filters: seccomp(2).
type seccompControl struct {
	*Job
	defaults
	filters []filter
	// Of a session: what its first process loads if it makes cgroups for its commands, what
	// these then load, and what keeps the marks of their processes without cgroups.
	spawner, commands []filter
	mark              filter
}

func (c *seccompControl) Name() string { return "seccomp" }

func (c *seccompControl) Requested() (string, bool) { return c.Job.Plan.SeccompText(), true }

func (c *seccompControl) Prepare(context.Context) (err error) {
	if c.filters, err = filters(c.Job.Plan, c.machine.readFile); err != nil {
		return err
	}
	if c.Filters += len(c.filters); c.Spawns {
		err = c.divide()
	}
	return err
}

// divide prepares the filters of a session. Its first process must be able to call clone3(2),
// which alone starts a process in a cgroup: to move one afterwards takes a grace period of
// the kernel, ten milliseconds. The commands must not. So the part of the filters that
// denies clone3 is loaded by each command, before anything else of it runs.
func (c *seccompControl) divide() error {
	arch, err := seccomp.Native()
	if err != nil {
		return err
	}
	compiled := func(p seccomp.Profile) filter {
		program, fault := p.Compile(arch)
		err = errors.Join(err, fault)
		return filter{p, program}
	}
	for _, f := range c.filters {
		rest, only := f.Split("clone3")
		if c.spawner = append(c.spawner, compiled(rest)); len(only.Rules) > 0 {
			c.commands = append(c.commands, compiled(only))
		}
	}
	c.mark = compiled(seccomp.Mark())
	if err != nil {
		return &plan.Refusal{Code: plan.CodeSetup, Err: err}
	}
	return nil
}

// Steps load the filters with SECCOMP_SET_MODE_FILTER. no_new_privs must already be set.
func (c *seccompControl) Steps(at Phase, p *Program) {
	if at != Filters {
		return
	}
	list := c.filters
	switch {
	case c.Spawns && c.InCgroup:
		list, c.CommandFilters = c.spawner, c.commands
	case c.Spawns:
		list = append(list, c.mark)
		c.Filters++
	}
	for _, f := range list {
		if c.given(f) {
			c.Handed = append(c.Handed, f.program)
			continue
		}
		p.Command = append(p.Command, step("seccomp", "seccomp", unix.SYS_SECCOMP, f.Name, steps.Int(seccomp.SetModeFilter), steps.Int(f.Flags), steps.Filter(f.program.Fprog())))
	}
}

// given reports whether another program loads a filter before this one starts inside: all
// but a profile file, which may deny what this program still has to do.
func (c *seccompControl) given(f filter) bool {
	return c.Wrapped && f.Flags == 0 && (c.Job.Plan.SeccompFile == "" || f.Name != c.Job.Plan.Seccomp)
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
