package policy

import (
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// amendable says, for each key of a policy, whether a new value in an amendment can let the shipped
// policy pass more than before. nil means that no value can. A test compares the map with
// policyKeys; a missing key counts as one that can.
//
// Nothing else in a policy file weakens. Packs, principles and new policies are added to those that
// decide, and the strictest match counts. A macro is only in expressions of its file, and counts as
// part of them. Required proofs are added to those that the accepted content required.
var amendable = lazy.Value[map[string]func(w *written, old *Policy) bool]{Make: func() map[string]func(w *written, old *Policy) bool {
	return map[string]func(w *written, old *Policy) bool{
		"id":        nil,
		"pack":      nil, // a different one is a fault
		"principle": nil, // a reason; it decides nothing
		"message":   nil,
		"remedy":    nil,
		"examples":  nil,
		"protected": func(w *written, old *Policy) bool { return old.Protected && !w.Protected },
		"effect":    func(w *written, old *Policy) bool { return Stricter(old.Effect, w.Effect) },
		"on":        func(w *written, old *Policy) bool { return !covers(w.On, old.On, defaultKinds()) },
		"modes":     func(w *written, old *Policy) bool { return !covers(w.Modes, old.Modes, Modes()) },
		"when":      func(w *written, old *Policy) bool { return strings.TrimSpace(w.When) != strings.TrimSpace(old.When) },
	}
}}

// weakenings lists the keys of an amendment that can let its policy pass more, each as
// "policies.ID.key: value".
func weakenings(w *written, old *Policy) (out []string) {
	for _, key := range policyKeys {
		at := w.given[key]
		if at == nil {
			continue
		}
		weaker, known := amendable.Get()[key]
		if !known || weaker != nil && weaker(w, old) {
			out = append(out, "policies."+w.ID+"."+key+": "+valueOf(key, w, old))
		}
	}
	return out
}

// valueOf returns the new value of a key, with the old one if that is short.
func valueOf(key string, w *written, old *Policy) string {
	switch key {
	case "effect":
		return old.Effect + " becomes " + w.Effect
	case "on":
		return "only " + strings.Join(w.On, ", ")
	case "modes":
		return "only " + strings.Join(w.Modes, ", ")
	case "when":
		return strings.Join(strings.Fields(w.When), " ")
	}
	return "changed"
}

// report returns what the decisions of the set report about a file that was used.
func (f *file) report() record.Configuration {
	widens := slices.Clone(f.widens)
	if f.around || widens == nil {
		widens = []string{}
	}
	return record.Configuration{Path: f.name, Digest: f.digest, Trusted: f.trusted, Widens: widens}
}

// Configuration lists the files of work spaces from which the set was made, with what they weaken.
func (s *Set) Configuration() []record.Configuration { return slices.Clone(s.configuration) }
