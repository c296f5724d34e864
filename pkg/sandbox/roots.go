package sandbox

import (
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// ControlGit names, in denials, the layer that puts aside what a command left
// for git, or for an agent, to run outside.
const ControlGit = "git"

// writableRoots are the directories of the host that the command can write to, none within another.
func (p *Plan) writableRoots() []string {
	var roots []string
	for i, e := range p.Paths {
		if e.Access == ReadWrite && e.Dir && covering(p.Paths[:i], e.Path).Access != ReadWrite {
			roots = append(roots, e.Path)
		}
	}
	return roots
}

// canWrite reports whether the command could change what lies at a path of the host.
func (p *Plan) canWrite(path string) bool {
	return covering(p.Paths, path).Access == ReadWrite && !p.cacheAt(path)
}

func (p *Plan) cacheAt(path string) bool {
	return slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Kind == mount.Overlay && mount.Within(path, m.Target) })
}
