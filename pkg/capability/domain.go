package capability

import (
	"slices"

	"ethos/pkg/egress/rule"
)

// CheckDomain says why a pattern cannot stand in a network list, and what to
// write in its place.
func CheckDomain(text string) error {
	_, err := rule.ParsePattern(text)
	return err
}

// meetDomains is what both of two allow-lists allow.
func meetDomains(a, b []string) []string { return patterns(a).Meet(patterns(b)).Strings() }

// patterns are those of an allow-list that mean something: another one allows
// nothing.
func patterns(list []string) (out rule.Set) {
	for _, text := range list {
		if p, err := rule.ParsePattern(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// beyond lists the patterns that no pattern of limit covers. One that means
// nothing is covered by itself alone.
func beyond(list, limit []string) (out []string) {
	bounds := patterns(limit)
	for _, text := range list {
		p, err := rule.ParsePattern(text)
		covers := func(b rule.Pattern) bool { return err == nil && b.Covers(p) }
		if !slices.Contains(limit, text) && !slices.ContainsFunc(bounds, covers) {
			out = append(out, text)
		}
	}
	return out
}
