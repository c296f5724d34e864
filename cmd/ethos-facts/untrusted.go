package main

import (
	"ethos/pkg/printable"
	"ethos/pkg/trust"
)

// memory is what a person has trusted, with the error that kept it from being
// asked.
type memory struct {
	*trust.Memory
	failed error
}

// Trusted implements [facts.Trust].
func (m *memory) Trusted(file, digest string) (bool, error) {
	ok, err := m.Memory.Trusted(file, digest)
	if err != nil {
		m.failed = err
	}
	return ok, err
}

// tell says on standard error what there is to be said of an action: a panic;
// and once, which files give less than they say, and what of a configuration
// means less than it may look like.
func (w *writer) tell(d description) {
	w.sys.Stderr.Write(d.stack)
	for _, c := range trust.Pending(d.facts.Repo.Configuration) {
		if !w.once(c.Path + c.Digest) {
			continue
		}
		w.sys.Warn(trust.Notice(c), "")
		if d.failed != nil {
			w.sys.Warn("what was trusted cannot be looked up: "+d.failed.Error(), "")
			d.failed = nil
		}
	}
	for _, text := range d.notes {
		if w.once(text) {
			w.sys.Warn(printable.Line(text), "")
		}
	}
}

// once reports that something was not said yet, and remembers it.
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
