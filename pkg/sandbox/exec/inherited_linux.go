package exec

import (
	"fmt"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/plan"
)

// rlimits are all resource limits of a process: getrlimit(2), RLIM_NLIMITS.
type rlimits [16]unix.Rlimit

func rlimitsOf(pid int) (all rlimits, err error) {
	for i := range all {
		if err := unix.Prlimit(pid, i, nil, &all[i]); err != nil {
			return all, fmt.Errorf("prlimit: %w", err)
		}
	}
	return all, nil
}

// checkInherited refuses a waiting command whose resource limits are not those with which
// the session began. Any command may lower those of the process that starts the others,
// because they have the same user: prlimit(2). They cannot be raised again.
func (c *Child) checkInherited() error {
	now, err := rlimitsOf(c.PID)
	if err != nil {
		return err
	}
	if now != c.session.inherited {
		return plan.Refuse(plan.CodeStale, "end it and start it again: ethos-sandbox session end", "a command has changed the resource limits that the commands of the session inherit")
	}
	return nil
}
