package facts

import (
	"path"
	"slices"

	"ethos/pkg/ethosargs"
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
// that leads to ethos-git. One that is built in the work space is the work
// space's, except where that is around the home directory.
func (d *Deriver) changesProgram(op string, at place, names ...string) bool {
	ownHome := within(at.home, at.workspace)
	inside := func(name string) bool { return !ownHome && within(name, at.workspace) }
	if op == "read" || op == "list" || len(d.opt.Programs) == 0 {
		return false
	}
	for _, name := range names {
		if inside(name) {
			continue
		}
		for _, dir := range d.installed().dirs {
			if !inside(dir) && d.programs.changed(op, name, dir) {
				return true
			}
		}
	}
	return false
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
		leads := slices.ContainsFunc(p.dirs, func(dir string) bool {
			at := resolve(p.tree, path.Join(dir, "git"), false)
			return at.exists && path.Base(at.name) == "ethos-git"
		})
		p.git = &leads
	}
	return *p.git
}

// in reports that a directory holds a program of ethos.
func (p *programs) in(dir string) bool {
	for _, program := range ethosargs.Programs() {
		if _, err := p.tree.Lstat(path.Join(dir, program.Name)); err == nil {
			return true
		}
	}
	return false
}

// installed finds where programs of ethos are, once.
func (d *Deriver) installed() *programs {
	if d.programs == nil {
		d.programs = newPrograms(d.opt.Tree, d.opt.Programs)
	}
	return d.programs
}
