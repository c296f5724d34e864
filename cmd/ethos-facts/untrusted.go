package main

import (
	"ethos/pkg/origin"
	"ethos/pkg/printable"
	"ethos/pkg/trust"
)

// memory holds what the user has trusted, and the error if it could not be
// read.
type memory struct {
	*trust.Memory
	origins *origin.Memory
	failed  error
	unknown error // why the origins of files could not be looked up
}

// Runs implements [facts.Origins].
func (m *memory) Runs() (*origin.Runs, error) {
	runs, err := m.origins.Runs()
	if err != nil {
		m.unknown = err
	}
	return runs, err
}

// Trusted implements [facts.Trust].
func (m *memory) Trusted(file, digest string) (bool, error) {
	ok, err := m.Memory.Trusted(file, digest)
	if err != nil {
		m.failed = err
	}
	return ok, err
}

// tell prints on standard error what to report about an action: a panic; and,
// once each, files that grant less than they say, and settings that mean less
// than they seem to.
func (w *writer) tell(d *description) {
	w.sys.Stderr.Write(d.stack)
	for _, c := range trust.Pending(d.facts.Repo.Configuration) {
		if !w.once(c.Path + c.Digest) {
			continue
		}
		w.sys.Warn(trust.Notice(c), "")
		if d.failed != nil {
			w.sys.Warn("cannot look up what was trusted: "+d.failed.Error(), "")
			d.failed = nil
		}
	}
	if d.unknown != nil && w.once(d.unknown.Error()) {
		w.sys.Warn("cannot look up where files came from: "+d.unknown.Error(), "fix this: until then nobody is asked before running a script that was written while the network was reachable")
	}
	for _, text := range d.notes {
		if w.once(text) {
			w.sys.Warn(printable.Line(text), "")
		}
	}
}

// once reports whether a text is new, and remembers it.
func (w *writer) once(text string) bool {
	if w.told[text] {
		return false
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[text] = true
	return true
}
