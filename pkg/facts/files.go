package facts

import (
	"path"
	"strings"

	"ethos/pkg/record"
)

const (
	maxFiles   = 1000 // file facts of one action
	maxEntries = 4096 // of a directory that a glob is matched against
	maxGlobbed = 64   // listed matches of one glob
)

// fileFacts collects the files of one action.
type fileFacts struct {
	d     *Deriver
	tree  Tree
	place place
	files []record.File
	seen  map[[2]string]bool
	lacks *lacks
}

func newFileFacts(d *Deriver, p place, l *lacks) *fileFacts {
	return &fileFacts{d: d, tree: d.opt.Tree, place: p, files: []record.File{}, seen: map[[2]string]bool{}, lacks: l}
}

// action adds the files of a call of an agent's file tool.
func (f *fileFacts) action(a *record.FileAction, cwd string) {
	for _, one := range append([]record.FileAction{*a}, a.Also...) {
		f.add(one.Op, one.Path, f.absolute(one.Path, cwd), false)
		if one.Target != "" {
			f.add(one.Op, one.Target, f.absolute(one.Target, cwd), false)
		}
	}
}

// absolute returns the absolute form of name relative to cwd, or "" if it is not known.
func (f *fileFacts) absolute(name, cwd string) string {
	switch {
	case strings.ContainsRune(name, 0) || name == "":
		return ""
	case strings.HasPrefix(name, "/"):
		return name
	case name == "~" || strings.HasPrefix(name, "~/"):
		if f.place.home == "" {
			return ""
		}
		return f.place.home + name[1:]
	case strings.HasPrefix(name, "~"): // another user's home
		return ""
	}
	return cwd + "/" + name
}

// add resolves one path and adds it. Wildcards count only where the shell would expand them.
func (f *fileFacts) add(op, shown, abs string, globs bool) {
	if f.seen[[2]string{op, shown}] {
		return
	}
	f.seen[[2]string{op, shown}] = true
	if len(f.files) >= maxFiles {
		f.lacks.add(record.IncompleteSize)
		return
	}
	if abs == "" {
		f.lacks.add(record.IncompleteFile)
		f.files = append(f.files, record.File{Op: op, Path: shown, Resolved: ""})
		return
	}
	if globs && strings.ContainsAny(abs, "*?[") {
		f.glob(op, shown, abs)
		return
	}
	f.files = append(f.files, f.look(op, shown, abs))
}

// look is find, and also marks a change of a program of ethos.
func (f *fileFacts) look(op, shown, abs string) record.File {
	out := f.find(op, shown, abs)
	if f.d.changesProgram(op, f.place, out.Resolved, path.Clean(abs)) {
		out.Protected = worse(out.Protected, classProgram)
	}
	return out
}

// find resolves a path and classifies its target.
func (f *fileFacts) find(op, shown, abs string) record.File {
	at := resolve(f.tree, abs, op == "delete" || op == "move")
	if at.partial {
		f.lacks.add(record.IncompleteFile)
	}
	out := record.File{Op: op, Path: shown, Resolved: at.name, ViaSymlink: at.links != nil, Exists: at.exists}
	out.InsideWorkspace = within(at.name, f.place.workspace)
	out.Outside = f.place.outside(at.name) && !into(op, at.name)
	if out.InsideWorkspace {
		out.WorkspaceRelative = path.Join(".", strings.TrimPrefix(at.name, f.place.workspace))
		if out.WorkspaceRelative = strings.TrimPrefix(out.WorkspaceRelative, "/"); out.WorkspaceRelative == "" {
			out.WorkspaceRelative = "."
		}
	}
	// Both the name and its target count: replacing a link replaces what later readers find under
	// its name.
	out.Protected = worse(f.place.protected(at.name), f.place.protected(path.Clean(abs)))
	return out
}

// glob adds the pattern itself, and the existing files that match it and are protected or outside
// of the work space.
func (f *fileFacts) glob(op, shown, abs string) {
	i := strings.IndexAny(abs, "*?[")
	dir := abs[:strings.LastIndexByte(abs[:i], '/')+1]
	base := f.find(op, shown, dir)
	base.Resolved = path.Join(base.Resolved, abs[len(dir):])
	if base.InsideWorkspace {
		base.WorkspaceRelative = path.Join(base.WorkspaceRelative, abs[len(dir):])
	}
	base.Exists = false
	base.Outside = f.place.outside(base.Resolved)
	if f.d.matchesProgram(op, path.Clean(abs), f.place) {
		base.Protected = worse(base.Protected, classProgram)
	}
	f.files = append(f.files, base)
	listed := 0
	f.walk(dir, strings.Split(abs[len(dir):], "/"), func(name string) {
		found := f.look(op, name, name)
		if found.Protected == "" && found.InsideWorkspace == base.InsideWorkspace {
			return
		}
		if listed++; listed > maxGlobbed || len(f.files) >= maxFiles {
			f.lacks.add(record.IncompleteSize)
			return
		}
		found.Path = name
		f.files = append(f.files, found)
	})
}

// walk calls found for every existing name that the components match. As in a shell, a wildcard
// does not match a leading dot.
func (f *fileFacts) walk(dir string, parts []string, found func(name string)) {
	if len(parts) == 0 {
		found(path.Clean(dir))
		return
	}
	if !strings.ContainsAny(parts[0], "*?[") {
		next := path.Join(dir, parts[0])
		if at := resolve(f.tree, next, true); at.exists {
			f.walk(next, parts[1:], found)
		}
		return
	}
	names, err := f.tree.Names(dir, maxEntries)
	if err != nil {
		return // no such directory
	}
	if len(names) == maxEntries {
		f.lacks.add(record.IncompleteSize)
	}
	for _, name := range names {
		if (name[0] != '.' || parts[0][0] == '.') && wildcard(strings.ReplaceAll(parts[0], "[!", "[^"), name) {
			f.walk(path.Join(dir, name), parts[1:], found)
		}
	}
}
