package main

import (
	"ethos/pkg/origin"
	"ethos/pkg/printable"
	"ethos/pkg/trust"
)

// memory is what a person has trusted, with the error that kept it from being
// asked.
type memory struct {
	*trust.Memory
	origins *origin.Memory
	failed  error
	unknown error // what kept the origins of files from being looked up
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
	if d.unknown != nil && w.once(d.unknown.Error()) {
		w.sys.Warn("where files came from cannot be looked up: "+d.unknown.Error(), "mend that: until then nobody is asked before a script runs that was written with the network at hand")
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
