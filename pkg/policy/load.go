package policy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
)

// Options says which policies decide.
type Options struct {
	Packs   []string // shipped packs besides core
	Sources []Source // the consumer's files, in order
	Bounds  Bounds
	Ceiling string // digest of the administrator's ceiling, which decisions report; "" for none
}

// Load returns the set of the packs that always decide, the packs named in the options or in a
// source, and the policies of the sources. The error is [Faults] if a file is wrong. For an unknown
// pack it names the pack.
func Load(o Options) (*Set, error) {
	l := &loader{set: &Set{bounds: o.Bounds.orDefault(), ceiling: o.Ceiling}}
	files := make([]*file, len(o.Sources))
	packs := append([]string{Core, Services}, o.Packs...)
	for i, source := range o.Sources {
		files[i] = readFile(source)
		packs = append(packs, files[i].packs...)
	}
	for _, name := range packs {
		if err := l.shipped(name); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		l.principlesOf(f)
	}
	for _, f := range files {
		l.consumer(f)
	}
	var faults Faults
	for _, f := range files {
		faults = append(faults, f.faults...)
	}
	if err := faults.orNil(); err != nil {
		return nil, err
	}
	for _, f := range files {
		l.proofs(f)
		if f.digest != "" {
			l.set.configuration = append(l.set.configuration, f.report())
		}
	}
	return l.set.seal(), nil
}

// proofs adds the proofs that a file requires, and those that it required when it was trusted. A
// work tree that contains the work space has another root.
func (l *loader) proofs(f *file) {
	if len(f.proofs) > 0 && !f.around {
		l.set.proofs = append(l.set.proofs, needs.File{Name: f.name, Rules: f.proofs})
	}
	if len(f.last) > 0 && !f.around && !f.trusted {
		l.set.proofs = append(l.set.proofs, needs.File{Name: f.name + " (as it was trusted)", Rules: f.last})
	}
}

// loader builds a set.
type loader struct {
	set      *Set
	reserved []string // principles defined by the administrator
}

// shipped adds a shipped pack, once.
func (l *loader) shipped(name string) error {
	if slices.Contains(l.set.packs, name) {
		return nil
	}
	if err := KnownPack(name); err != nil {
		return err
	}
	if len(l.set.packs) == 0 {
		l.set.principles = ShippedPrinciples()
	}
	l.set.packs = append(l.set.packs, name)
	l.set.rules = append(l.set.rules, shippedRules(name)...)
	return nil
}

func (l *loader) principlesOf(f *file) {
	for _, p := range f.principles {
		if l.principle(p.ID) && (f.around || slices.Contains(l.reserved, p.ID)) {
			continue
		}
		if f.ceiling {
			l.reserved = append(l.reserved, p.ID)
		}
		if l.principle(p.ID) {
			f.fault(p.at, "principle %q is already defined", p.ID)
			continue
		}
		l.set.principles = append(l.set.principles, p.Principle)
	}
}

func (l *loader) principle(id string) bool {
	return slices.ContainsFunc(l.set.principles, func(p Principle) bool { return p.ID == id })
}

func (l *loader) find(id string) *rule {
	for _, r := range l.set.rules {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// Local is the pack of a consumer's policy that names no pack.
const Local = "local"

// consumer adds the policies of a file. Each is new, or amends a shipped policy.
func (l *loader) consumer(f *file) {
	seen := map[string]bool{}
	for _, w := range f.policies {
		if w.ID == "" {
			continue // its fault is recorded
		}
		old := l.find(w.ID)
		switch {
		case (f.around || old != nil && old.ceiling && !f.ceiling) && !seen[w.ID] && old != nil && !slices.Contains(Packs(), old.Pack):
			l.again(f, w)
		case seen[w.ID] || old != nil && !slices.Contains(Packs(), old.Pack):
			f.fault(w.given["id"], "policy %q is already defined%s", w.ID, whereElse(old))
		case old != nil:
			l.amend(f, w, old)
		case isShipped(w.ID):
			f.fault(w.given["id"], "policy %q belongs to a pack that is not loaded; name the pack under packs to amend it", w.ID)
		default:
			l.add(f, w)
		}
		seen[w.ID] = true
	}
}

// again adds a policy of an outer work tree whose name the work space also uses.
func (l *loader) again(f *file, w *written) {
	if w.Pack == "" {
		w.Pack = Local
	}
	same := func(r *rule) bool { return r.ID == w.ID && r.digest == digestOf(&w.Policy) }
	if slices.ContainsFunc(l.set.rules, same) {
		return
	}
	before := len(l.set.rules)
	l.add(f, w)
	l.set.doubled = l.set.doubled || len(l.set.rules) > before
}

func whereElse(r *rule) string {
	if r == nil {
		return " in this file" // and has a fault, so it was not kept
	}
	return " at " + r.place()
}

// choices lists, for the message about a missing key, the values that the key can have.
func (l *loader) choices(key string) string {
	switch key {
	case "effect":
		return ": it is deny, ask, warn or allow"
	case "principle":
		var ids []string
		for _, p := range l.set.principles {
			ids = append(ids, p.ID)
		}
		return ": the shipped ones are " + strings.Join(ids, ", ") + "; define others under principles"
	}
	return ""
}

// add checks and compiles a new policy.
func (l *loader) add(f *file, w *written) {
	for _, name := range []string{"principle", "effect", "when", "message", "remedy"} {
		if w.given[name] == nil && !(name == "remedy" && w.Effect == record.VerdictAllow) {
			f.fault(w.at, "policy %q has no %q%s", w.ID, name, l.choices(name))
		}
	}
	if w.Pack == "" {
		w.Pack = Local
	}
	if slices.Contains(Packs(), w.Pack) {
		f.fault(cmpNode(w.given["pack"], w.at), "pack %q is shipped; a policy of yours goes into a pack of another name", w.Pack)
	}
	l.checkPrinciple(f, w)
	if r := f.rule(w); r != nil {
		l.set.rules = append(l.set.rules, r)
		if !slices.Contains(l.set.packs, w.Pack) {
			l.set.packs = append(l.set.packs, w.Pack)
		}
	}
}

func (l *loader) checkPrinciple(f *file, w *written) {
	if at := w.given["principle"]; at != nil && w.Principle != "" && !l.principle(w.Principle) {
		var known []string
		for _, p := range l.set.principles {
			known = append(known, p.ID)
		}
		f.fault(at, "unknown principle %q%s", w.Principle, suggestion(w.Principle, known))
	}
}

func cmpNode(a, b *yaml.Node) *yaml.Node {
	if a != nil {
		return a
	}
	return b
}
