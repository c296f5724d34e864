package control

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/steps"
)

// cgroupNS is a cgroup namespace, in which the command sees its own cgroup as the root.
type cgroupNS struct{ namespace }

func newCgroupNS(j *Job) *cgroupNS {
	return &cgroupNS{newNamespace(j, "cgroupns", "cgroup", "cgroup", unix.CLONE_NEWCGROUP)}
}

// Steps create the namespace from inside the run's cgroup, if there is one, so that this
// cgroup becomes its root. clone(2) cannot do that, because it creates namespaces before it
// enters the cgroup.
func (c *cgroupNS) Steps(at Phase, p *Program) {
	switch {
	case !c.InCgroup, c.Wrapped:
		c.namespace.Steps(at, p)
	case at == InitCgroup:
		p.Init = append(p.Init, step("init", "unshare", unix.SYS_UNSHARE, "cgroup namespace", steps.Int(unix.CLONE_NEWCGROUP)))
	}
}
