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
	dirs []string // absolute and clean, both as named and resolved
	git  *bool    // whether git in one of them is a link to ethos-git
}

// newPrograms returns the directories, both as named and resolved.
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

// changesProgram reports whether an operation on a path replaces, removes, hides or disables an
// installed program of ethos, or a git that leads to ethos-git. names are the path as written and
// resolved.
func (d *Deriver) changesProgram(op string, at place, names ...string) bool {
	outside := func(name string) bool { return !within(name, at.workspace) }
	if !within(at.home, at.workspace) && !slices.ContainsFunc(names, outside) {
		return false
	}
	return slices.ContainsFunc(d.installedFor(op, at), func(dir string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return d.programs.changed(op, name, dir) })
	})
}

// matchesProgram reports whether an operation on the files that match a pattern changes an existing
// program of ethos.
func (d *Deriver) matchesProgram(op, pattern string, at place) bool {
	return slices.ContainsFunc(d.installedFor(op, at), func(dir string) bool {
		return slices.ContainsFunc(d.programs.list(dir), func(name string) bool { return matchGlob(pattern, path.Join(dir, name)) })
	})
}

// installedFor lists the directories in which an operation can change a program of ethos. A program
// that is built in the work space belongs to the work space, unless the work space contains the
// home directory.
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

// matchGlob compares a whole path with a pattern in which "**" stands for any number of names.
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

// into checks what is copied into a directory from which programs are started. The analysis of the
// words alone takes the directory for a file.
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

// arrives adds the programs of ethos among the sources of a copy, under the names that they get. It
// reports whether the name of a source is unknown.
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

func (f *fileFacts) mark(op, shown, class string) {
	for i := range f.files {
		if f.files[i].Op == op && f.files[i].Path == shown {
			f.files[i].Protected = worse(f.files[i].Protected, class)
		}
	}
}

func (p *programs) changed(op, name, dir string) bool {
	switch {
	case path.Dir(name) == dir:
		return p.named(path.Base(name))
	case op == "delete" || op == "move":
		return name != "/" && within(dir, name) && p.in(dir)
	}
	return op == "mode" && name == dir && p.in(dir)
}

// named reports whether a program of ethos is called by a name. It does so even if no such program
// exists there, because the first one on PATH is run.
func (p *programs) named(base string) bool {
	if _, ok := ethosargs.Find(base); ok {
		return true
	}
	return base == "git" && p.guardsGit()
}

// guardsGit reports whether a git on PATH leads to ethos-git.
func (p *programs) guardsGit() bool {
	if p.git == nil {
		leads := slices.ContainsFunc(p.dirs, func(dir string) bool { return slices.Contains(p.list(dir), "git") })
		p.git = &leads
	}
	return *p.git
}

// list returns the names of the programs of ethos in a directory.
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

// in reports whether a directory contains a program of ethos.
func (p *programs) in(dir string) bool { return len(p.list(dir)) > 0 }
