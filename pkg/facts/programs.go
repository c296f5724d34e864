package facts

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/ethosargs"
	"ethos/pkg/record"
)

// programs are the directories from which programs of ethos may be started.
type programs struct {
	tree Tree
	dirs []string // absolute and clean, by name and by what they lead to
	git  *bool    // whether git is a link to ethos-git in one of them
}

// newPrograms takes the directories as they are named.
func newPrograms(t Tree, named []string) *programs {
	p := &programs{tree: t}
	for _, dir := range named {
		if !path.IsAbs(dir) {
			continue
		}
		for _, d := range []string{path.Clean(dir), resolve(t, dir, false).name} {
			if d != "/" && !slices.Contains(p.dirs, d) {
				p.dirs = append(p.dirs, d)
			}
		}
	}
	return p
}

// changesProgram reports that an operation on a path, which has two names,
// replaces, removes, hides or disarms an installed program of ethos, or a git
// that leads to ethos-git.
func (d *Deriver) changesProgram(op string, at place, names ...string) bool {
	outside := func(name string) bool { return !within(name, at.workspace) }
	if !within(at.home, at.workspace) && !slices.ContainsFunc(names, outside) {
		return false
	}
	return slices.ContainsFunc(d.installedFor(op, at), func(dir string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return d.programs.changed(op, name, dir) })
	})
}

// matchesProgram reports that an operation on the files that a pattern stands
// for does so with a program that is there.
func (d *Deriver) matchesProgram(op, pattern string, at place) bool {
	return slices.ContainsFunc(d.installedFor(op, at), func(dir string) bool {
		return slices.ContainsFunc(d.programs.list(dir), func(name string) bool { return matchGlob(pattern, path.Join(dir, name)) })
	})
}

// installedFor lists the directories in which an operation can change a
// program of ethos. One that is built in the work space is the work space's,
// except where that is around the home directory.
func (d *Deriver) installedFor(op string, at place) []string {
	if op == "read" || op == "list" || len(d.opt.Programs) == 0 {
		return nil
	}
	if d.programs == nil {
		d.programs = newPrograms(d.opt.Tree, d.opt.Programs)
	}
	if within(at.home, at.workspace) {
		return d.programs.dirs
	}
	return slices.DeleteFunc(slices.Clone(d.programs.dirs), func(dir string) bool { return within(dir, at.workspace) })
}

// matchGlob compares a whole path with a pattern in which "**" stands for any
// number of names.
func matchGlob(pattern, name string) bool {
	want, restWanted, moreWanted := strings.Cut(pattern, "/")
	if want == "**" {
		for {
			if !moreWanted || matchGlob(restWanted, name) {
				return true
			}
			_, rest, more := strings.Cut(name, "/")
			if !more {
				return false
			}
			name = rest
		}
	}
	have, rest, more := strings.Cut(name, "/")
	if want != have && !wildcard(strings.ReplaceAll(want, "[!", "[^"), have) || moreWanted != more {
		return false
	}
	return !more || matchGlob(restWanted, rest)
}

// into looks at what is put into a directory that programs are started from:
// the analysis of the words alone takes the directory for a file.
func (w *work) into(u record.PathUse, abs string) {
	dir := path.Clean(abs)
	if !slices.Contains(w.d.installedFor(u.Op, w.place), dir) {
		return
	}
	unknown := false
	switch u.By {
	case "cp", "mv", "install", "ln":
		for i := range w.shell.Commands {
			if c := &w.shell.Commands[i]; c.Name == u.By {
				unknown = w.arrives(u, dir, c.Argv[1:]) || unknown
			}
		}
	case "rsync", "tar", "bsdtar", "unzip", "cpio", "go", "scp", "7z":
		unknown = true
	}
	if unknown && w.d.programs.in(dir) {
		w.files.mark(u.Op, u.Path, classProgram)
	}
}

// arrives adds the programs of ethos among the sources of a copy, by the names
// that they will have, and reports a source whose names are not known.
func (w *work) arrives(u record.PathUse, dir string, argv []*string) (unknown bool) {
	for _, word := range argv {
		switch {
		case word == nil:
			unknown = true
		case strings.HasPrefix(*word, "-"):
		case strings.ContainsAny(*word, "*?["), path.Base("/"+*word) == "/", strings.HasSuffix(*word, "/."), strings.HasSuffix(*word, ".."):
			unknown = true
		case w.d.programs.named(path.Base(*word)):
			base := path.Base(*word)
			w.files.add(u.Op, path.Join(u.Path, base), path.Join(dir, base), false)
		}
	}
	return unknown
}

// mark gives the file facts of an operation on a path a class.
func (f *fileFacts) mark(op, shown, class string) {
	for i := range f.files {
		if f.files[i].Op == op && f.files[i].Path == shown {
			f.files[i].Protected = worse(f.files[i].Protected, class)
		}
	}
}

// changed compares a path with one directory.
func (p *programs) changed(op, name, dir string) bool {
	switch {
	case path.Dir(name) == dir:
		return p.named(path.Base(name))
	case op == "delete" || op == "move":
		return name != "/" && within(dir, name) && p.in(dir)
	}
	return op == "mode" && name == dir && p.in(dir)
}

// named reports a name that a program of ethos is called by: also where there
// is none yet, because the first one on PATH is called.
func (p *programs) named(base string) bool {
	if _, ok := ethosargs.Find(base); ok {
		return true
	}
	return base == "git" && p.guardsGit()
}

// guardsGit reports that a git on PATH leads to ethos-git.
func (p *programs) guardsGit() bool {
	if p.git == nil {
		leads := slices.ContainsFunc(p.dirs, func(dir string) bool { return slices.Contains(p.list(dir), "git") })
		p.git = &leads
	}
	return *p.git
}

// list names the programs of ethos in a directory.
func (p *programs) list(dir string) (names []string) {
	for _, program := range ethosargs.Programs() {
		if _, err := p.tree.Lstat(path.Join(dir, program.Name)); err == nil {
			names = append(names, program.Name)
		}
	}
	if at := resolve(p.tree, path.Join(dir, "git"), false); at.exists && path.Base(at.name) == "ethos-git" {
		names = append(names, "git")
	}
	return names
}

// in reports that a directory holds a program of ethos.
func (p *programs) in(dir string) bool { return len(p.list(dir)) > 0 }
