package control

import (
	"slices"

	"ethos/pkg/sandbox/plan"
)

// New returns the controls of one run, in the order in which they are prepared, add their
// calls and appear in the evidence. They are closed in reverse order. A control with a line
// in the evidence must also be in the list of package record.
func New(j *Job) []Control {
	if j.machine == nil {
		j.machine = thisMachine()
	}
	switch j.Plan.Backend {
	case "":
	case plan.Bwrap:
		return wrapped(j)
	case plan.Outer:
		j.Flat = true
		return inOuter(j)
	default:
		j.Flat = true
		return flat(j)
	}
	return []Control{
		newUser(j), &workspace{Job: j}, newMount(j), newPID(j), newIPC(j), newUTS(j), newCgroupNS(j), newNetwork(j), newEgress(j), newPublish(j), &ports{Job: j},
		&privileges{Job: j}, &landlockControl{Job: j}, &seccompControl{Job: j}, &observer{Job: j}, &unixSockets{Job: j},
		newSigning(j), &cgroupControl{Job: j, release: func() {}}, &rlimits{Job: j}, &timeout{Job: j}, &output{Job: j}, &caches{Job: j}, &environment{Job: j},
		&stdio{Job: j}, &terminal{Job: j}, &managedGit{Job: j}, &agentState{Job: j}, &placeholders{Job: j}, newProtectedPaths(j), &gitSettings{Job: j}, &gitQuarantine{Job: j},
	}
}

// wrapped returns the controls of a run whose namespaces and mounts bubblewrap makes. Its
// control comes after those that add mounts.
func wrapped(j *Job) []Control {
	j.Wrapped = true
	lack := func(name string) Control { return &lacking{Job: j, name: name} }
	return []Control{
		newUser(j), lack(plan.ControlWorkspace), newMount(j), newPID(j), newIPC(j), newUTS(j), newCgroupNS(j), newNetwork(j), lack("egress"), lack("publish"), &ports{Job: j},
		&privileges{Job: j}, &landlockControl{Job: j}, &seccompControl{Job: j}, &unixSockets{Job: j},
		lack(plan.ControlSigning), &cgroupControl{Job: j, release: func() {}}, &rlimits{Job: j}, &timeout{Job: j}, &output{Job: j}, lack("caches"), &environment{Job: j},
		&stdio{Job: j}, &terminal{Job: j}, &bubblewrap{Job: j}, newProtectedPaths(j), &gitQuarantine{Job: j},
	}
}

// flat returns the controls of a run without namespaces. Their lines in the evidence are
// the same.
func flat(j *Job) []Control {
	landlocked := j.Plan.Backend == plan.Landlock
	lack := func(name, asked string) Control { return &lacking{Job: j, name: name, asked: asked} }
	where := []Control{&scratch{Job: j}, lack("userns", "a user namespace of its own"), lack(plan.ControlWorkspace, ""), &inPlace{Job: j}, &subreaper{Job: j}}
	limits := []Control{lack(plan.ControlSigning, ""), &cgroupControl{Job: j, release: func() {}}, &rlimits{Job: j}, &timeout{Job: j}, &output{Job: j}, lack("caches", ""), &environment{Job: j}, &stdio{Job: j}, &terminal{Job: j}}
	if !landlocked {
		return slices.Concat(where, []Control{
			lack("ipc", "an IPC namespace of its own"), lack("uts", "a UTS namespace of its own"), lack("cgroupns", "a cgroup namespace of its own"), lack(plan.ControlNetwork, j.Plan.Network),
			lack("egress", ""), lack("publish", ""), lack("ports", ""), lack("privileges", "no capability, no_new_privs"), lack("landlock", "the paths"), lack("seccomp", j.Plan.SeccompText()), lack("unix_sockets", "connect(2) to socket files"),
		}, limits)
	}
	return slices.Concat(where, []Control{
		&filtered{Job: j, name: "ipc", asked: "an IPC namespace of its own", held: "no System V IPC and no POSIX message queue"}, lack("uts", "a UTS namespace of its own"), lack("cgroupns", "a cgroup namespace of its own"),
		&filtered{Job: j, name: plan.ControlNetwork, asked: j.Plan.Network, held: "no socket but connected pairs"}, lack("egress", ""), lack("publish", ""), &ports{Job: j},
		&privileges{Job: j}, &landlockControl{Job: j}, &seccompControl{Job: j}, &unixSockets{Job: j},
	}, limits, []Control{newProtectedPaths(j), &gitQuarantine{Job: j}})
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

// wrapperTasks is how many threads bwrap and this program have around the command, at most.
const wrapperTasks = 16
