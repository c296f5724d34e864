package capability

// Level says how a path may be used; a higher level allows more.
type Level int

// The levels of an [Access].
const (
	Denied  Level = iota // an entry denies it
	Base                 // no entry applies: the default of the sandbox
	Granted              // an entry grants it
)

// Access is what a declaration allows for one path.
type Access struct{ Read, Write Level }

// String formats the access for messages: "read denied, write granted".
func (a Access) String() string { return "read " + a.Read.String() + ", write " + a.Write.String() }

func (l Level) String() string { return [...]string{"denied", "by default", "granted"}[l] }

func (a Access) within(b Access) bool { return a.Read <= b.Read && a.Write <= b.Write }

func (a Access) meet(b Access) Access { return Access{min(a.Read, b.Read), min(a.Write, b.Write)} }

// list is one of the lists of paths. Of entries for the same directory, the order of the constants
// decides which applies.
type list int

const (
	allowWithinDeny list = iota
	read
	write
	denyWrite
	denyRead
)

// table has the path lists of one set in comparable form.
type table [denyRead + 1][]location

func tableOf(s Space, c Set) *table {
	t := new(table)
	each(tree, func(f *field) { t[f.list] = s.locations(*of[[]string](f, &c)) })
	return t
}

// PathAccess returns what c allows for the path p, which is written as in c's lists.
func PathAccess(s Space, c Set, p string) Access {
	return tableOf(s, c).access(s.location(p))
}

// access evaluates the lists as the package comment describes.
func (t *table) access(p location) Access {
	nearest := t.nearest(p)
	hidden := nearest[denyRead] >= 0 && nearest[denyRead] >= max(nearest[allowWithinDeny], nearest[read], nearest[write])
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

// nearest returns, for each list, the depth of its most specific entry over p, or -1.
func (t *table) nearest(p location) (depth [denyRead + 1]int) {
	for k, locations := range t {
		depth[k] = -1
		for _, e := range locations {
			if e.covers(p) {
				depth[k] = max(depth[k], e.depth())
			}
		}
	}
	return depth
}

// add adds an entry unless it is present.
func (t *table) add(k list, p location) {
	if !contains(t[k], p) {
		t[k] = append(t[k], p)
	}
}

func (t *table) texts(k list) []string {
	out := make([]string, len(t[k]))
	for i, p := range t[k] {
		out[i] = p.text
	}
	return out
}
