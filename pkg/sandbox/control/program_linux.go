package control

import (
	"path/filepath"

	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Compile prepares every call of a run: phase by phase and, within a phase, control by
// control. The resources that the calls use, such as descriptors, belong to the controls.
func Compile(j *Job, controls []Control) *Program {
	p := &Program{}
	p.Init = make([]steps.Step, 0, 96+4*len(j.Mounts)+6*len(j.Plan.Placeholders)) // growing a slice copies it and touches its pages twice
	p.Command = append(make([]steps.Step, 0, 88+len(j.Plan.Paths)), steps.Begun())
	for at := range Phases {
		if at == Restored {
			p.Command = append(p.Command, steps.RestoreSignals())
		}
		for _, c := range controls {
			c.Steps(at, p)
		}
	}
	p.Command = append(p.Command, steps.Ready()...)
	if p.Spawns = j.Spawns; !p.Spawns {
		p.Command = append(p.Command, execSteps(j.Plan, j.machine)...)
	}
	return p
}

// execSteps are those of execvp(3): they try the name in each directory of PATH, as seen
// from inside, until one is found.
func execSteps(p *plan.Plan, m *machine) []steps.Step {
	argv, envp := steps.Strings(p.Argv), steps.Strings(p.Env)
	var list []steps.Step
	for _, path := range likely(p, m, candidates(p.Argv[0], p.Env)) {
		list = append(list, execStep(path, steps.Str(path), argv, envp))
	}
	if len(list) > 0 {
		list[len(list)-1].Tolerate, list[len(list)-1].Ignore = nil, nil
	}
	return list
}

// likely drops leading paths that do not exist: a name that is missing on the host is also
// missing inside on a path that comes from the host. At least one path remains, so that its
// execve can fail.
func likely(p *plan.Plan, m *machine, paths []string) []string {
	for len(paths) > 1 && absent(p, m, paths[0]) {
		paths = paths[1:]
	}
	return paths
}

func absent(p *plan.Plan, m *machine, path string) bool {
	if access := plan.Covering(p.Paths, filepath.Clean(path)).Access; access != plan.ReadOnly && access != plan.ReadWrite {
		return false
	}
	return m.missing(path)
}
