package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// View describes the copy-on-write views that replace the writable host directories. Each
// has an upper layer that no command sees. The rest of the plan is unchanged, except that
// there are no placeholders: nothing that the command creates reaches the host. Whoever
// applies a view to the host must not apply the paths in Closed.
type View struct {
	// Roots are the replaced directories, none within another.
	Roots []string `json:"roots"`
	// Closed are the paths in Roots that the command could not have changed on the host,
	// whether they exist or not. They include the protected names of each root.
	Closed []string `json:"closed"`
	// At is the directory of the upper layers, which is kept after the run. "" stands for a
	// directory of this run, which is removed.
	At string `json:"at,omitempty"`
}

// inView reports whether the command writes into a view.
func (b *builder) inView() bool { return b.set.View != "" }

// view adds the view to a plan whose mounts are complete. Apart from ethos's own
// directories, no other host path may be writable, because only a directory can be an
// overlay.
func (b *builder) view(p *Plan) error {
	if !b.inView() {
		return nil
	}
	v := &View{Roots: []string{}, Closed: []string{}}
	for _, root := range slices.Sorted(slices.Values(p.writable())) {
		if !slices.ContainsFunc(v.Roots, func(above string) bool { return mount.Within(root, above) }) {
			v.Roots = append(v.Roots, root)
		}
	}
	in := func(path string) bool {
		return slices.ContainsFunc(v.Roots, func(root string) bool { return mount.Within(path, root) })
	}
	closed := slices.Clone(b.absentInView)
	for _, e := range p.Paths {
		if e.Access != ReadWrite {
			closed = append(closed, e.Path)
		}
	}
	for _, w := range b.names {
		for _, name := range w.Names {
			closed = append(closed, filepath.Join(w.Dir, name))
		}
	}
	for _, path := range append(closed, b.own) {
		if in(path) {
			v.Closed = append(v.Closed, path)
		}
	}
	slices.Sort(v.Closed)
	v.Closed = slices.Compact(v.Closed)
	p.Placeholders, p.ProtectedNames = []Placeholder{}, []ProtectedNames{}
	p.View = v
	for i := range p.Mounts {
		m := &p.Mounts[i]
		if m.Kind == mount.Overlay { // a cache: what is added is discarded with the view
			m.Upper, m.Work = "", ""
		}
		if m.Kind != mount.Bind || !m.Writable || m.Device || Managed(*m) || in(m.Source) || slices.Contains(p.Sockets, m.Target) || strings.HasPrefix(m.Source, "/dev/") {
			continue
		}
		return Refuse(CodeDeclaration, "declare its directory, or omit the view to write to the file itself", "a copy-on-write view covers directories only, and %s is a file", m.Source)
	}
	return nil
}
