package control

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// cgroupNS is a cgroup namespace: the command sees its own cgroup as the root.
type cgroupNS struct{ namespace }

func newCgroupNS(j *Job) *cgroupNS {
	return &cgroupNS{namespace{j, "cgroupns", "cgroup", "cgroup", unix.CLONE_NEWCGROUP}}
}

// Steps make the namespace from inside of the cgroup, where the run has one, so that its root is the command's own: clone(2) makes namespaces
// before it enters the cgroup.
func (c *cgroupNS) Steps(at Phase, p *Program) {
	switch {
	case !c.InCgroup:
		c.namespace.Steps(at, p)
	case at == InitCgroup:
		p.Init = append(p.Init, step("init", "unshare", unix.SYS_UNSHARE, "cgroup namespace", steps.Int(unix.CLONE_NEWCGROUP)))
	}
}
