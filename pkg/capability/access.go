package capability

import "ethos/pkg/record"

// Level is how far one path can be used; a higher one allows more.
type Level int

// The levels of an [Access].
const (
	Denied  Level = iota // an entry takes it away
	Base                 // no entry says anything: as the sandbox has it by default
	Granted              // an entry gives it
)

// Access is what a declaration says of one path.
type Access struct{ Read, Write Level }

// String is for messages: "read denied, write granted".
func (a Access) String() string { return "read " + a.Read.String() + ", write " + a.Write.String() }

func (l Level) String() string { return [...]string{"denied", "by default", "granted"}[l] }

func (a Access) within(b Access) bool { return a.Read <= b.Read && a.Write <= b.Write }

func (a Access) meet(b Access) Access { return Access{min(a.Read, b.Read), min(a.Write, b.Write)} }

// kind of an entry, in the order in which they hold over one another for the same directory.
type kind int

const (
	lift kind = iota
	read
	write
	denyWrite
	denyRead
)

// table is the path lists of one declaration, made comparable.
type table [denyRead + 1][]place

func tableOf(s Space, c record.Capabilities) *table {
	return &table{
		lift:      s.places(c.AllowReadWithinDeny),
		read:      s.places(c.ReadPaths),
		write:     s.places(c.WritePaths),
		denyWrite: s.places(c.DenyWritePaths),
		denyRead:  s.places(c.DenyReadPaths),
	}
}

// PathAccess says what c allows for the path p, which is written as in c's lists.
func PathAccess(s Space, c record.Capabilities, p string) Access {
	return tableOf(s, c).access(s.place(p))
}

// access reads the lists as the package comment says.
func (t *table) access(p place) Access {
	nearest := t.nearest(p)
	hidden := nearest[denyRead] >= 0 && nearest[denyRead] >= max(nearest[lift], nearest[read], nearest[write])
	if hidden {
		return Access{Denied, Denied}
	}
	a := Access{Base, Base}
	if nearest[read] >= 0 || nearest[write] >= 0 {
		a.Read = Granted
	}
	switch w := nearest[write]; {
	case w >= 0 && w > nearest[denyWrite] && w >= nearest[read]:
		a.Write = Granted
	case nearest[denyWrite] >= 0:
		a.Write = Denied
	}
	return a
}

// nearest is, for each kind, the depth of its most specific entry over p; -1 when there is none.
func (t *table) nearest(p place) (depth [denyRead + 1]int) {
	for k, places := range t {
		depth[k] = -1
		for _, e := range places {
			if e.covers(p) {
				depth[k] = max(depth[k], e.depth())
			}
		}
	}
	return depth
}

// add puts an entry where it is not yet.
func (t *table) add(k kind, p place) {
	if !contains(t[k], p) {
		t[k] = append(t[k], p)
	}
}

func (t *table) texts(k kind) []string {
	out := make([]string, len(t[k]))
	for i, p := range t[k] {
		out[i] = p.text
	}
	return out
}
