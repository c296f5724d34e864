package plan

import (
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
)

// class is the effect of a rule on a path and everything below it.
type class int

const (
	grantPrivate    class = iota
	allowWithinDeny       // cancels a denyRead of a directory above, and grants nothing by itself
	grantRead
	grantWrite
	denyWrite
	denyRead
	blank // hidden, but shown as an empty directory so that tools that walk the tree skip it
)

// rule is one resolved rule.
type rule struct {
	resolvedPath
	class
	why string
}

// table computes the entries of rules. The deeper path wins; at equal depth a deny wins;
// the order of the rules does not matter. The entries are sorted, parents first. An entry
// with the access of its parent is left out.
func table(rules []rule) []Entry {
	byPath := map[string][]rule{}
	for _, r := range rules {
		byPath[r.path] = append(byPath[r.path], r)
	}
	paths := make([]string, 0, len(byPath))
	for p := range byPath {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if d := mount.Depth(a) - mount.Depth(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	entries, grants := &covers{entries: make([]Entry, 0, len(paths)), at: make(map[string]int, len(paths))}, &covers{at: map[string]int{}}
	for _, p := range paths {
		if slices.ContainsFunc(byPath[p], func(r rule) bool { return r.class == grantRead || r.class == grantWrite }) {
			grants.add(Entry{Path: p, Access: ReadOnly})
		}
		above := entries.covering(p)
		e := combine(byPath[p], above.Access, grants.covering(p).Access != Hidden) // whatever denies it
		if e.Access != above.Access || slices.ContainsFunc(byPath[p], func(r rule) bool { return r.class == grantPrivate }) {
			entries.add(e)
		}
	}
	return entries.entries
}

// combine joins the rules of one path.
func combine(rules []rule, above Access, granted bool) Entry {
	slices.SortStableFunc(rules, func(a, b rule) int {
		if a.class != b.class {
			return int(a.class - b.class)
		}
		return strings.Compare(a.why, b.why)
	})
	access, empty := above, false
	own := rules[0].class == grantPrivate
	why := ""
	for _, r := range rules {
		switch r.class {
		case grantPrivate:
			access, why = Private, r.why
		case allowWithinDeny:
			if access == Hidden && granted {
				access, why = ReadOnly, r.why
			}
		case grantRead:
			access, why = ReadOnly, r.why
		case grantWrite:
			access, why = ReadWrite, r.why
		case denyWrite:
			if access == ReadWrite {
				access, why = ReadOnly, r.why
			}
		case denyRead:
			if !own { // the host's content is hidden there already
				access, why = Hidden, r.why
			}
		case blank:
			access, empty, why = Hidden, true, r.why
		}
	}
	at := rules[0].resolvedPath
	return Entry{Path: at.path, Access: access, Exists: at.exists, Dir: at.dir || empty, Empty: empty, Why: why}
}
