package rule

import (
	"cmp"
	"slices"
	"strings"
)

// Set is a list of patterns. It stands for the union of what they name.
type Set []Pattern

// ParseSet parses a list of patterns. The result is sorted and has no
// duplicates.
func ParseSet(patterns []string) (Set, error) {
	s := make(Set, 0, len(patterns))
	for _, text := range patterns {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		s = append(s, p)
	}
	return s.normal(), nil
}

func (s Set) normal() Set {
	slices.SortFunc(s, func(a, b Pattern) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(s)
}

// Strings returns the patterns in normal form.
func (s Set) Strings() []string {
	out := make([]string, len(s))
	for i, p := range s {
		out[i] = p.String()
	}
	return out
}

// Covers reports whether, in allow-lists, p grants everything that q grants.
func (p Pattern) Covers(q Pattern) bool {
	return p.coversHost(q) && (p.port == 0 || p.port == q.port)
}

func (p Pattern) coversHost(q Pattern) bool {
	switch {
	case p.prefix.IsValid():
		return q.prefix.IsValid() && encloses(p.prefix, q.prefix) && p.scope() == q.scope()
	case p.everything():
		return q.scope() == scope{} && !local(q.name)
	case q.prefix.IsValid() || q.everything():
		return false
	case local(q.name) && !local(p.name):
		return false
	case p.below:
		return strings.HasSuffix(q.name, "."+p.name) || q.below && q.name == p.name
	}
	return !q.below && p.name == q.name
}

// Meet returns the pattern for what both patterns grant; false if that is
// nothing.
func (p Pattern) Meet(q Pattern) (Pattern, bool) {
	if !p.coversHost(q) {
		p, q = q, p
	}
	if !p.coversHost(q) || p.port != 0 && q.port != 0 && p.port != q.port {
		return Pattern{}, false
	}
	if q.port == 0 {
		q.port = p.port
	}
	return q, true
}

// At returns the set with these ports added to the patterns that have no port.
func (s Set) At(ports []uint16) Set {
	out := Set{}
	for _, p := range s {
		if p.port != 0 {
			out = append(out, p)
			continue
		}
		for _, port := range ports {
			p.port = port
			out = append(out, p)
		}
	}
	return out
}

// Union returns the list of what either list names.
func (s Set) Union(t Set) Set { return slices.Concat(s, t).normal() }

// Beyond lists the patterns of an allow-list that no pattern of limit covers.
func (s Set) Beyond(limit Set) Set {
	out := Set{}
	for _, p := range s {
		if !slices.ContainsFunc(limit, func(l Pattern) bool { return l.Covers(p) }) {
			out = append(out, p)
		}
	}
	return out
}
