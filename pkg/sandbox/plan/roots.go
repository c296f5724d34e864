package plan

import (
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// WritableRoots returns the host directories that the command can write, none within
// another. With a view there are none.
func (p *Plan) WritableRoots() []string {
	if p.View != nil {
		return nil
	}
	return p.writable()
}

// writable returns the writable directories, on the host or in a view.
func (p *Plan) writable() []string {
	var roots []string
	for i, e := range p.Paths {
		if e.Access == ReadWrite && e.Dir && Covering(p.Paths[:i], e.Path).Access != ReadWrite {
			roots = append(roots, e.Path)
		}
	}
	return roots
}

// CanWrite reports whether the command could change what lies at a host path.
func (p *Plan) CanWrite(path string) bool {
	return p.View == nil && Covering(p.Paths, path).Access == ReadWrite && !p.cacheAt(path)
}

func (p *Plan) cacheAt(path string) bool {
	return slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Kind == mount.Overlay && mount.Within(path, m.Target) })
}

// ReadOnlyIn lists the paths in the given roots that the command cannot write.
func (p *Plan) ReadOnlyIn(roots []string) (list []string) {
	for _, e := range p.Paths {
		if e.Access != ReadWrite && slices.ContainsFunc(roots, func(root string) bool { return mount.Within(e.Path, root) }) {
			list = append(list, e.Path)
		}
	}
	return list
}
