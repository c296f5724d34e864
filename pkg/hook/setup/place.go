package setup

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// errNotOurs is the error for a file in ethos's place that ethos has not written.
var errNotOurs = errors.New("ethos did not write this file: move it away first")

// Place is the location of an agent's settings, of a person or of a project.
type Place struct {
	Agent Agent
	base  string // directory that links must not lead out of
	paths []string
}

// Where returns the location of an agent's settings: the person's, or, if project is set, the
// project's.
func Where(name string, project bool, d Dirs) (Place, error) {
	i := slices.IndexFunc(Agents(), func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Place{}, fmt.Errorf("unknown agent %q", name)
	}
	a := Agents()[i]
	p := Place{Agent: a}
	dir := a.user(d)
	if p.base = d.Home; !filepath.IsAbs(dir) {
		return p, fmt.Errorf("%s: HOME is not an absolute path", a.Name)
	}
	if rel, err := filepath.Rel(p.base, dir); err != nil || !filepath.IsLocal(rel) {
		p.base = dir
	}
	if project {
		p.base, dir = d.Project, filepath.Join(d.Project, a.Project)
	}
	for _, f := range a.files {
		at := dir
		if project && f.root {
			at = d.Project
		}
		p.paths = append(p.paths, filepath.Join(at, f.name))
	}
	return p, nil
}

// Paths returns the paths of the files, which may not exist.
func (p Place) Paths() []string { return p.paths }

// Change is a change that is to be written, and the text from which it was made.
type Change struct {
	place Place
	edits []edit
}

type edit struct {
	path          string
	format        format
	before, after []byte // nil if there is no file
}

// Empty reports whether the change changes nothing.
func (c *Change) Empty() bool {
	return !slices.ContainsFunc(c.edits, func(e edit) bool { return e.changes() })
}

func (e edit) changes() bool {
	return (e.before == nil) != (e.after == nil) || !bytes.Equal(e.before, e.after)
}

// Install returns the change that installs the hook.
func (p Place) Install(o Options) (*Change, error) {
	return p.change(func(_ string, f format, have []byte) ([]byte, error) { return f.install(have, o) })
}

// Remove returns the change that removes the hook. A switch that Install has turned on is off again
// if the kept text says so.
func (p Place) Remove() (*Change, error) {
	return p.change(func(path string, f format, have []byte) ([]byte, error) {
		if have == nil {
			return nil, nil
		}
		was, err := p.kept(path)
		if err != nil {
			return nil, err
		}
		if was == nil || f.has(was) || !f.has(have) {
			return f.remove(have)
		}
		after, err := f.remove(f.restore(have, was))
		switch {
		case err == nil && alike(after, was):
			return was, nil
		case err != nil || after != nil:
			return after, err
		}
		if rest, err := f.remove(was); err != nil || rest != nil {
			return nil, nil // the person has taken out the rest of it since
		}
		return was, nil
	})
}

// alike reports whether two texts of JSON mean the same and have the same comments: they differ in
// white space and trailing commas at most.
func alike(a, b []byte) bool {
	layout := func(r rune) rune {
		if strings.ContainsRune(" \t\r\n,", r) {
			return -1
		}
		return r
	}
	v := plainText(a)
	return v != nil && reflect.DeepEqual(v, plainText(b)) && bytes.Equal(bytes.Map(layout, a), bytes.Map(layout, b))
}

func (p Place) change(make func(path string, f format, have []byte) ([]byte, error)) (*Change, error) {
	c := &Change{place: p}
	for i, f := range p.Agent.files {
		have, err := p.read(p.paths[i])
		if err != nil {
			return nil, err
		}
		after, err := make(p.paths[i], f.format, have)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.paths[i], err)
		}
		c.edits = append(c.edits, edit{p.paths[i], f.format, have, after})
	}
	return c, nil
}
