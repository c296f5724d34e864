package treescan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sort"
	"strings"
)

// MaxPath limits the length of a directory's path in bytes: four times
// PATH_MAX, beyond which not even git can reach (limits.h).
const MaxPath = 16 << 10

// ErrTooLong is the error of an [Unreadable] directory whose path is longer
// than [MaxPath].
var ErrTooLong = errors.New("path too long")

// Entry is an entry of interest in a directory.
type Entry struct {
	Name string
	Type fs.FileMode // type bits; fs.ModeIrregular for types without a bit
}

// Place is a directory with at least one entry of interest.
type Place struct {
	Dir     *Dir
	Entries []Entry // sorted by name
}

// Path returns the path of the directory, which is not stored.
func (p Place) Path() string { return p.Dir.Path() }

// Unreadable is a directory that could not be listed, or not completely. What
// lies below it is unknown.
type Unreadable struct {
	Dir *Dir
	Err error
}

// Path returns the path of the directory, which is not stored.
func (u Unreadable) Path() string { return u.Dir.Path() }

// Tree is the result of one scan.
type Tree struct {
	Root       string
	Places     []Place      // sorted by path, component by component
	Unreadable []Unreadable // sorted in the same way
	Dirs       int          // number of directories
	Listed     int          // how many of them had to be read

	options Options
	old     *memory         // the memory that the scan started from
	changed map[int32]*node // records of old that are out of date
	top     *node           // the root; nil if its record is current
	fresh   int             // directories listed now that the next scan need not list
	at      moment
}

// Options configure a scan. Interest and Skip are called by several goroutines
// concurrently.
type Options struct {
	// Interest selects entries by name and type. It is called for every entry,
	// and must depend only on its arguments and not keep name.
	Interest func(name string, typ fs.FileMode) bool
	// InterestID names Interest: a memory made for another one is not used.
	InterestID string
	// Skip leaves out a directory, given by absolute path, with everything
	// below it. It must not keep path.
	Skip func(path string) bool
	// Dir is the root's place in the tree that the scan is a part of: see
	// [Tree.Add]. nil stands for a tree of its own.
	Dir *Dir
	// Memory is the file of the memory; "" for none.
	Memory string
	// Spares is how many directories a new memory must spare the next scan to
	// be written.
	Spares int

	coarse  func() timestamp // in tests, the clock that inodes are stamped with
	workers int              // in tests, the number of workers
}

// Scan lists root, an absolute path without symbolic links, and everything
// below it. The error is the context's, or says why root is not a directory
// that can be opened. A root that cannot be listed is in [Tree.Unreadable].
func Scan(ctx context.Context, root string, o Options) (*Tree, error) {
	now := clock()
	return scan(ctx, root, o, recall(o.Memory, identity(root, o.InterestID, now), now), now)
}

// Rescan scans the same tree again with the result of t as its memory, unless
// the clock was set back since.
func (t *Tree) Rescan(ctx context.Context) (*Tree, error) {
	now := clock()
	if !now.follows(t.at) {
		return scan(ctx, t.Root, t.options, nil, now)
	}
	return scan(ctx, t.Root, t.options, t.memory(), now)
}

// node is a directory that had to be listed, or whose parent had to be. All
// others are only in the memory.
type node struct {
	name  string
	kids  []node
	own   *listing
	was   int32 // its record in the memory, or -1
	state state
}

type state uint8

const (
	unseen   state = iota // skipped, or not listed
	same                  // matches its record
	listed                // own holds its content
	vanished              // disappeared during the scan
)

// listing is the content of a directory when it was listed.
type listing struct {
	stamp   stamp // the zero stamp makes the next scan list it again
	entries []Entry
	err     error
}

// directory is one directory of a tree: a node, or a record of the memory.
type directory struct {
	node   *node
	record int32
}

func (t *Tree) root() directory {
	if t.top != nil {
		return directory{node: t.top}
	}
	return t.recorded(0)
}

func (t *Tree) recorded(i int32) directory {
	if n := t.changed[i]; n != nil {
		return directory{node: n}
	}
	return directory{record: i}
}

func (t *Tree) below(d directory, into []directory) []directory {
	if d.node != nil && d.node.state != same {
		for i := range d.node.kids {
			into = append(into, directory{node: &d.node.kids[i]})
		}
		return into
	}
	first, count := t.old.kidsOf(int(d.known()))
	for i := range count {
		into = append(into, t.recorded(int32(first+i)))
	}
	return into
}

// known returns the record of a directory, or -1.
func (d directory) known() int32 {
	if d.node != nil {
		return d.node.was
	}
	return d.record
}

func (t *Tree) nameOf(d directory) string {
	if d.node != nil {
		return d.node.name
	}
	return t.old.nameOf(int(d.record))
}

// seen returns the stamp and the entries of a directory: the zero stamp if it
// has to be listed again.
func (t *Tree) seen(d directory) (stamp, []Entry) {
	switch n := d.node; {
	case n == nil || n.state == same:
		i := int(d.known())
		return t.old.stampOf(i), t.old.entriesOf(i)
	case n.own != nil:
		return n.own.stamp, n.own.entries
	}
	return stamp{}, nil
}

func (t *Tree) sort() {
	slices.SortFunc(t.Places, func(a, b Place) int { return compare(a.Dir, b.Dir) })
	slices.SortFunc(t.Unreadable, func(a, b Unreadable) int { return compare(a.Dir, b.Dir) })
}

// Add adds what scans of parts of the tree found, made with [Options.Dir].
func (t *Tree) Add(places []Place) {
	t.Places = append(t.Places, places...)
	t.sort()
}

// Below returns the places at a path and below it.
func (t *Tree) Below(path string) []Place {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(t.Root, "/"))
	if !ok || len(t.Places) == 0 || rest != "" && rest[0] != '/' {
		return nil
	}
	var names []string
	if rest = strings.Trim(rest, "/"); rest != "" {
		names = strings.Split(rest, "/")
	}
	first := sort.Search(len(t.Places), func(i int) bool { return t.Places[i].Dir.against(names) >= 0 })
	list := t.Places[first:]
	return list[:sort.Search(len(list), func(i int) bool { return list[i].Dir.against(names) > 0 })]
}

// sort sorts the entries and removes duplicates: a directory that changes while
// it is listed can return an entry twice.
func (l *listing) sort() {
	slices.SortFunc(l.entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	l.entries = slices.CompactFunc(l.entries, func(a, b Entry) bool { return a.Name == b.Name })
}

// hang creates the nodes for a listed directory's subdirectories.
func (n *node) hang(names []string, old *memory) {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return
	}
	all := strings.Join(names, "")
	n.kids = make([]node, len(names))
	for i, name := range names {
		n.kids[i] = node{name: all[:len(name)], was: -1}
		if n.was >= 0 {
			n.kids[i].was = old.find(int(n.was), name)
		}
		all = all[len(name):]
	}
}
