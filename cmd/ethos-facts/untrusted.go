package main

import (
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

// tell says on standard error, once, which files give less than they say.
func (w *writer) tell(files []record.Configuration) {
	for _, c := range trust.Pending(files) {
		if w.told[c.Path+c.Digest] {
			continue
		}
		if w.told == nil {
			w.told = map[string]bool{}
		}
		w.told[c.Path+c.Digest] = true
		w.sys.Warn(trust.Notice(c), "")
		if w.memory.failed != nil {
			w.sys.Warn("what was trusted cannot be looked up: "+w.memory.failed.Error(), "")
			w.memory.failed = nil
		}
	}
}
