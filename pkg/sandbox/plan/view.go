package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// View is what stands in the place of the writable directories of the host: a
// copy-on-write view of each, whose upper layer is kept where no command sees it.
// The rest of the plan is as without it, but for what keeps names from coming to
// exist: nothing that the command makes is on the host. Who applies a view to the
// host must not apply what lies in Closed.
type View struct {
	// Roots are the directories, none within another.
	Roots []string `json:"roots"`
	// Closed are paths in them that the command could not have changed on the
	// host, existing or not. The protected names of each root are among them.
	Closed []string `json:"closed"`
	// At is the directory that holds the upper layers, which is kept when the run
	// has ended. "" is one for this run, which is removed.
	At string `json:"at,omitempty"`
}

// inView reports whether the command writes into a view.
func (b *builder) inView() bool { return b.set.View != "" }

// view makes the view of a plan that has its mounts. Nothing else of the host may
// be writable, but what ethos keeps itself: what is no directory cannot be an
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
		if m.Kind == mount.Overlay { // a cache: what is added goes with the view
			m.Upper, m.Work = "", ""
		}
		if m.Kind != mount.Bind || !m.Writable || m.Device || Managed(*m) || in(m.Source) || slices.Contains(p.Sockets, m.Target) || strings.HasPrefix(m.Source, "/dev/") {
			continue
		}
		return Refuse(CodeDeclaration, "declare its directory; or leave the view out, and it is written to", "a copy-on-write view has directories, and %s is none of them", m.Source)
	}
	return nil
}
