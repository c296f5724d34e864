package plan

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/treescan"
)

// Bounds of what is read-only because a link in a protected directory leads there. What
// exceeds them is compared after the run, like what exceeds [nestedMounts].
const (
	linkedMounts = 64
	linkedLooks  = 1024 // links that are followed
)

// whyLinked begins the reason of an entry that is read-only because a link in a protected
// directory leads there. The path of the link follows.
const whyLinked = "a protected link leads here: "

// LinkTo returns the link in a protected directory because of which an entry is read-only,
// or "".
func LinkTo(e Entry) string {
	link, ok := strings.CutPrefix(e.Why, whyLinked)
	if !ok || e.Access != ReadOnly {
		return ""
	}
	return strings.TrimSuffix(link, whyALink)
}

const whyALink = ", a link"

// LinkHint is what to do about an entry that is read-only because a link leads there.
const LinkHint = "change it outside of the sandbox, or put a copy of it in the place of the link"

// guarded is a protected directory, in which links can be.
type guarded struct {
	path string
	rel  string // where it stands for the program that obeys it, as in [protected.Leads]; "" if everything in it decides what runs
}

// guard records a directory that a rule protects, so that links in it are followed.
func (b *builder) guard(dir, path, why string) {
	g := guarded{path: dir}
	if why == whyProtected {
		at := slices.IndexFunc(protectedNames.Get(), func(name string) bool { return strings.HasSuffix(path, "/"+name) })
		if at < 0 {
			return
		}
		g.rel = protectedNames.Get()[at]
	}
	b.guarded = append(b.guarded, g)
}

// linked follows the links in protected directories, such as .git/hooks/pre-commit ->
// ../../tools/check. What they lead to decides what runs outside as much as what stands in
// their place.
type linked struct {
	b       *builder
	entries []Entry // the table without what is added here; nil until there is a link
	looks   int
	mounts  int
	left    int
}

// foundLink is a link in a protected directory. Its path is not stored, because there can be
// very many.
type foundLink struct {
	in   guarded
	at   *treescan.Dir
	name string
}

func (f foundLink) path() string { return filepath.Join(f.at.Path(), f.name) }

// rel is where a link stands for the program that obeys it: [guarded.rel].
func (f foundLink) rel() string {
	if f.in.rel == "" {
		return ""
	}
	return f.in.rel + strings.TrimPrefix(f.path(), f.in.path)
}

// decides reports whether everything that a link leads to can decide what runs.
func (f foundLink) decides() bool {
	rel := f.rel()
	return rel == "" || protected.Leads(rel, true)
}

// protectLinked makes read-only what links in protected directories lead to, if the command
// could write it. The scans know the links, so nothing is listed for it.
func (b *builder) protectLinked() {
	l := &linked{b: b, looks: linkedLooks, mounts: linkedMounts}
	var rest []foundLink
	for done := 0; done < len(b.guarded); { // what is added is looked through, too
		var links []foundLink
		for _, g := range b.guarded[done:] {
			links = append(links, l.in(g)...)
		}
		done = len(b.guarded)
		slices.SortStableFunc(links, func(x, y foundLink) int { return cmp.Compare(x.at.Depth(), y.at.Depth()) })
		for _, link := range links {
			if link.decides() {
				l.follow(link, false)
			} else {
				rest = append(rest, link)
			}
		}
	}
	for _, link := range rest {
		l.follow(link, true)
	}
	if l.left > 0 {
		b.note(b.spec.Workspace, "what %d links in protected directories lead to is not read-only, because it is too much, does not exist, has to be writable, or is in a directory such as node_modules; "+
			"its changes are checked after the run", l.left)
	}
}

// in returns the links at any depth of a directory. Of a directory outside of the writable
// trees, which only git's configuration can name, it looks at the top.
func (l *linked) in(g guarded) (links []foundLink) {
	add := func(at *treescan.Dir, name string, typ fs.FileMode) {
		if typ == fs.ModeSymlink {
			links = append(links, foundLink{g, at, name})
		}
	}
	for _, tree := range l.b.scans {
		if mount.Within(g.path, tree.Root) {
			for _, p := range tree.Below(g.path) {
				for _, e := range p.Entries {
					add(p.Dir, e.Name, e.Type)
				}
			}
			return links
		}
	}
	entries, err := l.b.files.files.Entries(g.path)
	if err != nil {
		return nil // the command cannot reach it either
	}
	for _, e := range entries {
		add(treescan.NewDir(g.path), e.Name(), e.Type())
	}
	return links
}

// follow makes read-only what one link leads to; program is set if that counts only for a
// program, which a setting may name.
func (l *linked) follow(link foundLink, program bool) {
	path := link.path()
	if l.looks == 0 || passed(link.at) || len(path) >= mountPath {
		l.left++
		return
	}
	l.looks--
	p, err := l.b.files.resolve(path)
	if err != nil || program && (!p.mode.IsRegular() || p.mode&0o111 == 0) { // nobody can follow it, or it only instructs
		return
	}
	if l.entries == nil {
		l.entries = table(l.b.rules)
	}
	if Covering(l.entries, p.path).Access != ReadWrite || slices.ContainsFunc(l.b.guarded, func(g guarded) bool { return mount.Within(p.path, g.path) }) {
		return
	}
	if l.mounts == 0 || !l.mountable(path, p) {
		l.left++
		return
	}
	l.mounts--
	l.b.restrict(l.without(p), denyWrite, whyLinked+path)
	if p.dir {
		l.b.guarded = append(l.b.guarded, guarded{p.path, link.rel()})
	}
}

// mountable reports whether what a link leads to can be read-only. There is no placeholder
// for what does not exist: it would get in the way of a build that makes it.
func (l *linked) mountable(link string, p resolvedPath) bool {
	if !p.exists || !p.dir && !p.mode.IsRegular() || mount.Within(link, p.path) || len(p.path) >= mountPath {
		return false
	}
	for _, tree := range l.b.scans {
		if tree.Root != p.path && mount.Within(p.path, tree.Root) {
			names := splitPath(strings.TrimPrefix(p.path, tree.Root))
			return len(names) <= nestedLevels && !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(quarantine.PassedBy, name) })
		}
	}
	return false // it is a writable tree, or contains one
}

// without returns a path without the links on the way to it if the backend cannot hold a
// link in place.
func (l *linked) without(p resolvedPath) resolvedPath {
	if l.b.spec.Backend == Bwrap {
		p.links = slices.DeleteFunc(slices.Clone(p.links), func(link string) bool { return Covering(l.entries, link).Access == ReadWrite })
	}
	return p
}
