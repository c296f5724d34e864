package capability

import (
	"cmp"
	"slices"

	"ethos/pkg/record"
)

// meetPaths gives the lists for which every path's access is the lesser of what a and b say of it. Where that cannot be written with
// the five lists (a grant that b does not have, below a deny of b), it stays denied. A deny under a root that is not known may be
// anywhere: then only what both write alike is kept.
func meetPaths(a, b *table) *table {
	out := new(table)
	out[denyRead] = unique(slices.Concat(a[denyRead], b[denyRead]))
	out[denyWrite] = unique(slices.Concat(a[denyWrite], b[denyWrite]))
	strict := a.denyUnknown() || b.denyUnknown()
	if strict {
		for _, k := range []kind{lift, read, write} {
			out[k] = alike(a[k], b[k])
		}
	} else {
		out[write] = pairs(a[write], b[write])
		for _, p := range pairs(slices.Concat(a[read], a[write]), slices.Concat(b[read], b[write])) {
			if !contains(out[write], p) {
				out.add(read, p)
			}
		}
	}
	for _, p := range boundaries(a, b) {
		want := a.access(p).meet(b.access(p))
		if !strict && want.Read > Denied && out.access(p).Read == Denied {
			out.add(lift, p)
		}
		out.restrict(p, want)
	}
	out.keepReadOnly(slices.Concat(a[read], b[read]))
	return out
}

// keepReadOnly denies writing to trees that a or b has read-only, where that may lie below a grant whose root is not known, or the other
// way round.
func (t *table) keepReadOnly(trees []place) {
	for _, p := range trees {
		mayOverlap := func(w place) bool { return w.opaque != p.opaque || p.opaque && w.key != p.key }
		if !contains(t[read], p) && slices.ContainsFunc(t[write], mayOverlap) {
			t.add(denyWrite, p)
		}
	}
}

// restrict adds the denies that keep p from coming out wider than wanted; shallower places must have been done before.
func (t *table) restrict(p place, want Access) {
	if want.Read == Denied && t.access(p).Read > Denied {
		t.add(denyRead, p)
	}
	if have := t.access(p); want.Write < have.Write {
		t.add(denyWrite, p)
	}
}

func (t *table) denyUnknown() bool {
	unknown := func(p place) bool { return p.opaque }
	return slices.ContainsFunc(t[denyRead], unknown) || slices.ContainsFunc(t[denyWrite], unknown)
}

func contains(places []place, p place) bool {
	return slices.ContainsFunc(places, func(q place) bool { return q.key == p.key })
}

// alike keeps what is in both lists.
func alike(a, b []place) (out []place) {
	for _, p := range b {
		if contains(a, p) {
			out = append(out, p)
		}
	}
	return unique(out)
}

// pairs is the intersection of two unions of trees: of each overlapping pair the smaller tree.
func pairs(a, b []place) (out []place) {
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

// boundaries are the places where access can change, shallow ones first.
func boundaries(tables ...*table) (out []place) {
	for _, t := range tables {
		for _, places := range t {
			out = append(out, places...)
		}
	}
	return unique(out)
}

func unique(places []place) []place {
	slices.SortStableFunc(places, func(p, q place) int {
		return cmp.Or(cmp.Compare(p.depth(), q.depth()), cmp.Compare(p.key, q.key), cmp.Compare(len(q.text), len(p.text)), cmp.Compare(p.text, q.text))
	})
	return slices.CompactFunc(places, func(p, q place) bool { return p.key == q.key })
}

func (t *table) into(c *record.Capabilities) {
	for k, list := range map[kind]*[]string{
		lift: &c.AllowReadWithinDeny, read: &c.ReadPaths, write: &c.WritePaths, denyWrite: &c.DenyWritePaths, denyRead: &c.DenyReadPaths,
	} {
		*list = t.texts(k)
		slices.Sort(*list)
	}
}

// pathExcess lists the places where child allows more than parent.
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

// unknownExcess is what cannot be compared: a deny that the child lacks, a lift of an unknown place, and, where a deny may be anywhere,
// every grant that the parent does not have.
func unknownExcess(parent, child *table) (out []Excess) {
	strict := parent.denyUnknown()
	for k, places := range child {
		for _, p := range places {
			if kind(k) < denyWrite && (strict || kind(k) == lift && p.opaque) && !contains(parent[k], p) {
				out = append(out, Excess{Field: kind(k).String(), Value: p.text, Limit: "what can be compared"})
			}
		}
	}
	for _, k := range []kind{denyRead, denyWrite} {
		for _, p := range parent[k] {
			if p.opaque && !contains(child[k], p) {
				out = append(out, Excess{Field: k.String(), Value: "nothing denied", Limit: p.text + " denied"})
			}
		}
	}
	return out
}

func (k kind) String() string {
	return [...]string{"allow_read_within_deny", "read_paths", "write_paths", "deny_write_paths", "deny_read_paths"}[k]
}

// blame names the list in which the excess stands, or from which an entry is missing.
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
