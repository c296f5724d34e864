package main

import (
	"ethos/pkg/printable"
	"ethos/pkg/record"
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

// note says on standard error, once, what of a configuration means less than it
// may look like.
func (w *writer) note(workspace string) {
	for _, text := range w.deriver.Notes(workspace) {
		if !w.told[text] {
			w.say(text)
			w.sys.Warn(printable.Line(text), "")
		}
	}
}

// say remembers that something was said.
func (w *writer) say(text string) {
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[text] = true
}

// tell says on standard error, once, which files give less than they say.
func (w *writer) tell(files []record.Configuration) {
	for _, c := range trust.Pending(files) {
		if w.told[c.Path+c.Digest] {
			continue
		}
		w.say(c.Path + c.Digest)
		w.sys.Warn(trust.Notice(c), "")
		if w.memory.failed != nil {
			w.sys.Warn("what was trusted cannot be looked up: "+w.memory.failed.Error(), "")
			w.memory.failed = nil
		}
	}
}
