package plan

import (
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// WritableRoots are the directories of the host that the command can write to, none within another.
func (p *Plan) WritableRoots() []string {
	if p.View != nil {
		return nil
	}
	return p.writable()
}

// writable are the writable directories, whether they are the host's or a view of
// them.
func (p *Plan) writable() []string {
	var roots []string
	for i, e := range p.Paths {
		if e.Access == ReadWrite && e.Dir && Covering(p.Paths[:i], e.Path).Access != ReadWrite {
			roots = append(roots, e.Path)
		}
	}
	return roots
}

// CanWrite reports whether the command could change what lies at a path of the host.
func (p *Plan) CanWrite(path string) bool {
	return p.View == nil && Covering(p.Paths, path).Access == ReadWrite && !p.cacheAt(path)
}

func (p *Plan) cacheAt(path string) bool {
	return slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Kind == mount.Overlay && mount.Within(path, m.Target) })
}

// ReadOnlyIn lists what the command cannot write to in its writable roots.
func (p *Plan) ReadOnlyIn(roots []string) (list []string) {
	for _, e := range p.Paths {
		if e.Access != ReadWrite && slices.ContainsFunc(roots, func(root string) bool { return mount.Within(e.Path, root) }) {
			list = append(list, e.Path)
		}
	}
	return list
}
