package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"ethos/pkg/proof/needs"
	"ethos/pkg/record"
)

// Bounds limit one evaluation of one expression. Zero means the default.
type Bounds struct {
	Cost     uint64        // units of CEL's cost model; one million
	Deadline time.Duration // wall clock; 5 s
}

func (b Bounds) orDefault() Bounds {
	return Bounds{Cost: cmp.Or(b.Cost, defaultCost), Deadline: cmp.Or(b.Deadline, defaultDeadline)}
}

// Set is a set of policies that decide together. It is not safe for concurrent use.
type Set struct {
	rules      []*rule
	principles []Principle
	packs      []string
	digest     string
	bounds     Bounds
	// configuration is what decisions report about the files of work spaces.
	configuration []record.Configuration
	doubled       bool // several policies share a name
	proofs        needs.Set
	ceiling       string // its digest
}

// rule is a policy that is ready to be evaluated.
type rule struct {
	Policy
	need   need
	reads  []string // the variables and constants that it reads
	digest string
	expr   expression
	// ceiling marks a policy that the machine's administrator has defined or amended.
	ceiling bool
}

// Policies lists the policies in the order they were loaded.
func (s *Set) Policies() []Policy {
	list := make([]Policy, len(s.rules))
	for i, r := range s.rules {
		list[i] = r.Policy
	}
	return list
}

// Reads reports whether an expression reads a variable.
func (s *Set) Reads(variable string) bool {
	return slices.ContainsFunc(s.rules, func(r *rule) bool { return slices.Contains(r.reads, variable) })
}

// Packs names the packs, core first.
func (s *Set) Packs() []string { return slices.Clone(s.packs) }

// Proofs returns the commands that files of the work space require as proof. They do not affect
// decisions.
func (s *Set) Proofs() needs.Set { return slices.Clone(s.proofs) }

// Digest returns "sha256:" and the SHA-256, in hex, over the digests of all policies, ordered by
// id. Two sets with the same digest make the same decisions with the same messages; the position of
// a policy in a file does not count.
func (s *Set) Digest() string { return s.digest }

func (s *Set) seal() *Set {
	rules := slices.Clone(s.rules)
	slices.SortStableFunc(rules, func(a, b *rule) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.digest, b.digest)) })
	h := sha256.New()
	var text []byte
	for _, r := range rules {
		text = append(append(append(append(text[:0], r.ID...), ' '), r.digest...), '\n')
		if slices.Contains(r.reads, "catalog") {
			text = append(append(append(text, "catalog "...), catalogDigest.Get()...), '\n')
		}
		for _, name := range r.reads {
			if list, ok := listNamed(name); ok {
				text = append(append(append(append(text, name...), ' '), list.Digest...), '\n')
			}
		}
		h.Write(text)
	}
	s.digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return s
}

func (r *rule) unknownTo(unknown []string) []string {
	if len(unknown) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(unknown), func(name string) bool { return !slices.Contains(r.reads, name) })
}

// digestOf returns the SHA-256, in hex, of everything in a policy that affects a decision or its
// text.
func digestOf(p *Policy) string {
	text, err := json.Marshal([]any{p.ID, p.Pack, p.Principle, p.Effect, p.On, p.Modes, p.When, p.Message, p.Remedy, p.Protected})
	if err != nil {
		panic(err) // only strings and a bool
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
