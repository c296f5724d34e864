package capability

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind defines the order of the values of a field.
type kind struct {
	report int // rank of an excess in reports; 0: no value allows anything
	// meet stores in into what both a and b allow.
	meet func(f *field, into, a, b *Set)
	// exceeds reports whether the child allows more than the parent, and returns the child's value
	// and the parent's bound.
	exceeds func(f *field, parent, child *Set) (value, bound string, more bool)
}

var (
	label          = &kind{meet: meetLabel}                  // a name of the whole set; it grants nothing
	derivedTags    = &kind{}                                 // derived from the other fields: see Derive
	provenance     = &kind{meet: meetUnion}                  // the origin of a widening
	tree           = &kind{}                                 // a list of paths; the five lists meet together: see meetPaths and pathExcess
	pinned         = &kind{1, meetLabel, exceedsPinned}      // a word that a child cannot replace
	tightened      = &kind{1, meetLabel, exceedsPinned}      // a word that allows less than ""
	ordered        = &kind{2, meetOrdered, exceedsOrdered}   // one of the field's words
	loosened       = &kind{2, meetLoosened, exceedsLoosened} // one of the field's words; "" is the first
	needs          = &kind{3, meetNeeds, exceedsNeeds}       // true allows more
	limit          = &kind{4, meetLimit, exceedsLimit}       // a number; 0 is no bound
	names          = &kind{5, meetNames, exceedsNames}       // a list, compared as written
	variables      = &kind{5, meetVariables, exceedsVariables}
	allowedDomains = &kind{5, meetAllowedDomains, exceedsAllowedDomains}
	authority      = &kind{2, meetAuthority, exceedsAuthority} // whose certificates are trusted inside
	// A host that the list names gets only such requests.
	allowedRequests = &kind{5, meetRequests, exceedsRequests}
	injected        = &kind{5, meetInjections, exceedsNames} // credentials
	// A list of ports; an empty list means every port.
	ports         = &kind{5, meetPorts, exceedsPorts}
	denials       = &kind{5, meetUnion, exceedsDenials} // what is denied, compared as written
	deniedDomains = &kind{5, meetUnion, exceedsDeniedDomains}
)

// reported is the last rank in reports.
const reported = 5

// meetLabel takes the parent's word, if it has one.
func meetLabel(f *field, into, a, b *Set) {
	*of[string](f, into) = cmp.Or(*of[string](f, a), *of[string](f, b))
}

// exceedsPinned reports an excess if the child has another word than the parent. If the parent has
// none, there is no excess: a seccomp profile file is applied on top of the named profile and only
// denies more.
func exceedsPinned(f *field, parent, child *Set) (value, bound string, more bool) {
	bound, value = *of[string](f, parent), *of[string](f, child)
	return cmp.Or(value, "none"), bound, bound != "" && value != bound
}

// meetUnion keeps the entries of both, for denials and for provenance.
func meetUnion(f *field, into, a, b *Set) {
	*of[[]string](f, into) = union(*of[[]string](f, a), *of[[]string](f, b))
}

// rank orders the words of a field. "" is no statement and gives way to any other word. An unknown
// word ranks above the widest, so that it never counts as narrow.
func (f *field) rank(word string) int {
	if i := slices.Index(f.words, word); i >= 0 {
		return i
	}
	if word == "" {
		return len(f.words)
	}
	return len(f.words) + 1
}

func meetOrdered(f *field, into, a, b *Set) {
	word := *of[string](f, a)
	if other := *of[string](f, b); f.rank(other) < f.rank(word) {
		word = other
	}
	*of[string](f, into) = word
}

func exceedsOrdered(f *field, parent, child *Set) (value, bound string, more bool) {
	bound, value = *of[string](f, parent), *of[string](f, child)
	return value, bound, f.rank(value) > f.rank(bound)
}

// looseness returns the rank of a word for which "" is a statement too. An unknown word ranks above
// the last.
func (f *field) looseness(s *Set) int {
	word := cmp.Or(*of[string](f, s), f.words[0])
	if i := slices.Index(f.words, word); i >= 0 {
		return i
	}
	return len(f.words)
}

// meetLoosened does not store the first word, which is the default.
func meetLoosened(f *field, into, a, b *Set) {
	if f.looseness(b) < f.looseness(a) {
		a = b
	}
	if f.looseness(a) > 0 {
		*of[string](f, into) = *of[string](f, a)
	}
}

func exceedsLoosened(f *field, parent, child *Set) (value, bound string, more bool) {
	bound = cmp.Or(*of[string](f, parent), f.words[0])
	return *of[string](f, child), bound, f.looseness(child) > f.looseness(parent)
}

func meetNeeds(f *field, into, a, b *Set) { *of[bool](f, into) = *of[bool](f, a) && *of[bool](f, b) }

func exceedsNeeds(f *field, parent, child *Set) (value, bound string, more bool) {
	return "true", "false", *of[bool](f, child) && !*of[bool](f, parent)
}

// meetLimit takes the smaller limit; 0 is no limit.
func meetLimit(f *field, into, a, b *Set) {
	x, y := *of[int64](f, a), *of[int64](f, b)
	*of[int64](f, into) = min(x, y)
	if x == 0 || y == 0 {
		*of[int64](f, into) = max(x, y)
	}
}

func exceedsLimit(f *field, parent, child *Set) (value, bound string, more bool) {
	most, n := *of[int64](f, parent), *of[int64](f, child)
	return limitText(n), limitText(most), most != 0 && (n == 0 || n > most)
}

func limitText(n int64) string {
	if n == 0 {
		return "no limit"
	}
	return strconv.FormatInt(n, 10)
}

// meetNames keeps the entries that both lists have, compared as written.
func meetNames(f *field, into, a, b *Set) {
	*of[[]string](f, into) = common(*of[[]string](f, a), *of[[]string](f, b))
}

func exceedsNames(f *field, parent, child *Set) (value, bound string, more bool) {
	have := *of[[]string](f, parent)
	return listExcess(missing(*of[[]string](f, child), have), have)
}

func listExcess(extra, have []string) (value, bound string, more bool) {
	return strings.Join(extra, ", "), cmp.Or(strings.Join(have, ", "), "none"), len(extra) > 0
}

func meetVariables(f *field, into, a, b *Set) {
	have := *of[map[string]string](f, a)
	both := map[string]string{}
	for name, value := range *of[map[string]string](f, b) {
		if other, ok := have[name]; ok && other == value {
			both[name] = value
		}
	}
	*of[map[string]string](f, into) = both
}

func exceedsVariables(f *field, parent, child *Set) (value, bound string, more bool) {
	have := Assignments(*of[map[string]string](f, parent))
	return listExcess(missing(Assignments(*of[map[string]string](f, child)), have), have)
}

// Assignments returns variables as NAME=VALUE, sorted.
func Assignments(variables map[string]string) []string {
	out := make([]string, 0, len(variables))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		out = append(out, name+"="+variables[name])
	}
	return out
}

// meetAllowedDomains keeps what both lists allow. A network with access to the host's network
// reaches every domain, whatever its list.
func meetAllowedDomains(_ *field, into, a, b *Set) {
	into.Network.AllowDomains = []string{}
	switch x, y := &a.Network, &b.Network; {
	case x.Mode == "host" && y.Mode == "host":
	case x.Mode == "host":
		into.Network.AllowDomains = meetDomains(y.AllowDomains, y.AllowDomains)
	case y.Mode == "host":
		into.Network.AllowDomains = meetDomains(x.AllowDomains, x.AllowDomains)
	default:
		into.Network.AllowDomains = meetDomains(x.AllowDomains, y.AllowDomains)
	}
}

func exceedsAllowedDomains(_ *field, parent, child *Set) (value, bound string, more bool) {
	allow := child.Network.AllowDomains
	if parent.Network.Mode == "host" {
		allow = nil
	}
	return listExcess(beyondAllowed(allow, parent.Network.AllowDomains), parent.Network.AllowDomains)
}

func exceedsDeniedDomains(_ *field, parent, child *Set) (value, bound string, more bool) {
	lost := beyond(parent.Network.DenyDomains, child.Network.DenyDomains)
	for i := range lost {
		lost[i] = "without " + lost[i]
	}
	return listExcess(lost, parent.Network.DenyDomains)
}

func exceedsDenials(f *field, parent, child *Set) (value, bound string, more bool) {
	lost := missing(*of[[]string](f, parent), *of[[]string](f, child))
	for i := range lost {
		lost[i] = "without " + lost[i]
	}
	return listExcess(lost, *of[[]string](f, parent))
}

// common returns the values that both lists have.
func common(a, b []string) []string {
	out := []string{}
	for _, v := range b {
		if slices.Contains(a, v) {
			out = append(out, v)
		}
	}
	return union(out)
}

// missing returns the values that from does not have.
func missing(values, from []string) (out []string) {
	for _, v := range values {
		if !slices.Contains(from, v) {
			out = append(out, v)
		}
	}
	return out
}
