package capability

import (
	"cmp"
	"slices"
)

// meetPaths returns lists that give every path the lesser of its accesses in a and b. If the five
// lists cannot express this (a grant that b does not have, below a deny of b), the path stays
// denied. A deny under an unknown root may be anywhere; then only the entries that both have in the
// same form are kept.
func meetPaths(a, b *table) *table {
	out := new(table)
	out[denyRead] = unique(slices.Concat(a[denyRead], b[denyRead]))
	out[denyWrite] = unique(slices.Concat(a[denyWrite], b[denyWrite]))
	strict := a.denyUnknown() || b.denyUnknown()
	if strict {
		for _, k := range []list{allowWithinDeny, read, write} {
			out[k] = alike(a[k], b[k])
		}
	} else {
		out[write] = slices.DeleteFunc(pairs(a[write], b[write]), func(w location) bool {
			return a.readOnlyMayHold(w) || b.readOnlyMayHold(w)
		})
		for _, p := range pairs(slices.Concat(a[read], a[write]), slices.Concat(b[read], b[write])) {
			if !contains(out[write], p) {
				out.add(read, p)
			}
		}
	}
	for _, p := range boundaries(a, b) {
		want := a.access(p).meet(b.access(p))
		if !strict && want.Read > Denied && out.access(p).Read == Denied {
			out.add(allowWithinDeny, p)
		}
		out.restrict(p, want)
	}
	out.keepReadOnly(slices.Concat(a[read], b[read]))
	return out
}

// readOnlyMayHold reports whether w may lie in a read-only tree of t once the roots are known. It
// does not if t itself grants w, because no entry over w can be more specific.
func (t *table) readOnlyMayHold(w location) bool {
	return !contains(t[write], w) && slices.ContainsFunc(t[read], w.mayOverlap)
}

// mayOverlap reports whether two locations cannot be compared.
func (p location) mayOverlap(q location) bool {
	return p.opaque != q.opaque || p.opaque && p.key != q.key
}

// keepReadOnly denies writing to trees that are read-only in a or b, if they may lie below a grant
// whose root is unknown, or the other way round.
func (t *table) keepReadOnly(trees []location) {
	for _, p := range trees {
		if !contains(t[read], p) && slices.ContainsFunc(t[write], p.mayOverlap) {
			t.add(denyWrite, p)
		}
	}
}

// restrict adds the denies that keep p from getting more access than want. Shallower locations must
// be processed before.
func (t *table) restrict(p location, want Access) {
	if want.Read == Denied && t.access(p).Read > Denied {
		t.add(denyRead, p)
	}
	if have := t.access(p); want.Write < have.Write {
		t.add(denyWrite, p)
	}
}

func (t *table) denyUnknown() bool {
	unknown := func(p location) bool { return p.opaque }
	return slices.ContainsFunc(t[denyRead], unknown) || slices.ContainsFunc(t[denyWrite], unknown)
}

func contains(locations []location, p location) bool {
	return slices.ContainsFunc(locations, func(q location) bool { return q.key == p.key })
}

func alike(a, b []location) (out []location) {
	for _, p := range b {
		if contains(a, p) {
			out = append(out, p)
		}
	}
	return unique(out)
}

// pairs returns the intersection of two unions of trees: of each overlapping pair the smaller tree.
func pairs(a, b []location) (out []location) {
	for _, p := range a {
		for _, q := range b {
			switch {
			case p.covers(q):
				out = append(out, q)
			case q.covers(p):
				out = append(out, p)
			}
		}
	}
	return unique(out)
}

// boundaries returns the locations where access can change, shallow ones first.
func boundaries(tables ...*table) (out []location) {
	for _, t := range tables {
		for _, locations := range t {
			out = append(out, locations...)
		}
	}
	return unique(out)
}

func unique(locations []location) []location {
	slices.SortStableFunc(locations, func(p, q location) int {
		return cmp.Or(cmp.Compare(p.depth(), q.depth()), cmp.Compare(p.key, q.key),
			cmp.Compare(len(q.text), len(p.text)), cmp.Compare(p.text, q.text))
	})
	return slices.CompactFunc(locations, func(p, q location) bool { return p.key == q.key })
}

func (t *table) into(c *Set) {
	each(tree, func(f *field) {
		paths := t.texts(f.list)
		slices.Sort(paths)
		*of[[]string](f, c) = paths
	})
}

// pathExcess lists the locations where child allows more than parent.
func pathExcess(parent, child *table) (out []Excess) {
	for _, p := range boundaries(parent, child) {
		have, limit := child.access(p), parent.access(p)
		if have.within(limit) {
			continue
		}
		out = append(out, Excess{Field: blame(have, limit), Value: p.text + ": " + have.String(), Limit: limit.String()})
	}
	return append(out, unknownExcess(parent, child)...)
}

// unknownExcess lists what cannot be compared: a deny that the child lacks, an allow within a deny
// of an unknown location, and, if a deny may be anywhere, every grant that the parent does not
// have.
func unknownExcess(parent, child *table) (out []Excess) {
	strict := parent.denyUnknown()
	for k, locations := range child {
		for _, p := range locations {
			if list(k) < denyWrite && (strict || list(k) == allowWithinDeny && p.opaque) && !contains(parent[k], p) {
				out = append(out, Excess{Field: list(k).String(), Value: p.text, Limit: "what can be compared"})
			}
		}
	}
	for _, k := range []list{denyRead, denyWrite} {
		for _, p := range parent[k] {
			if p.opaque && !contains(child[k], p) {
				out = append(out, Excess{Field: k.String(), Value: "nothing denied", Limit: p.text + " denied"})
			}
		}
	}
	return out
}

func (l list) String() (name string) {
	each(tree, func(f *field) {
		if f.list == l {
			name = f.name
		}
	})
	return name
}

// blame names the list that contains the excess, or lacks an entry.
func blame(have, limit Access) string {
	switch {
	case have.Write == Granted && limit.Write < Granted:
		return write.String()
	case have.Read == Granted && limit.Read == Base:
		return read.String()
	case have.Read > limit.Read:
		return denyRead.String()
	}
	return denyWrite.String()
}
