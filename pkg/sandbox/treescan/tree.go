package treescan

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// MaxPath bounds the length of a directory's path: four times PATH_MAX, beyond
// which not even git reaches (limits.h).
const MaxPath = 16 << 10

// ErrTooLong is the error of an [Unreadable] directory whose path is longer than
// [MaxPath].
var ErrTooLong = errors.New("path too long")

// Entry is one entry of interest of a directory.
type Entry struct {
	Name string
	Type fs.FileMode // type bits; fs.ModeIrregular for what has no type of its own
}

// Place is a directory with at least one entry of interest.
type Place struct {
	Path    string
	Entries []Entry // sorted by name
}

// Unreadable is a directory that could not be listed, or not to its end: what
// lies below it is not known.
type Unreadable struct {
	Path string
	Err  error
}

// Tree is what one scan found.
type Tree struct {
	Root       string
	Places     []Place      // sorted by path
	Unreadable []Unreadable // sorted by path
	Dirs       int          // directories
	Listed     int          // of them, those that had to be read anew

	options Options
	old     *memory         // what the scan started from
	changed map[int32]*node // records of old that do not hold any more
	top     *node           // the root; nil when its record holds
	fresh   int             // directories that the next scan need not list and this one had to
	at      moment
}

// Options say what a scan is for. Interest and Skip are called by several
// goroutines at once.
type Options struct {
	// Interest picks entries by name and type. It sees every entry and depends
	// on its arguments alone; it must not keep name.
	Interest func(name string, typ fs.FileMode) bool
	// InterestID names Interest: a memory made for another is not used.
	InterestID string
	// Skip leaves out directories by absolute path, with all that lies below. It
	// must not keep path.
	Skip func(path string) bool
	// Memory is the file of the memory; "" for none.
	Memory string

	coarse  func() timestamp // in tests, the clock that inodes are stamped by
	workers int              // in tests, how many directories are looked at at once
}

// Scan lists root, an absolute path without symbolic links, and everything below
// it. The error is the context's, or says why root is not a directory that can be
// opened; a root that may not be listed is in [Tree.Unreadable].
func Scan(ctx context.Context, root string, o Options) (*Tree, error) {
	now := clock()
	return scan(ctx, root, o, recall(o.Memory, identity(root, o.InterestID, now), now), now)
}

// Rescan scans the same tree again, with what t saw as its memory, unless the
// clock was set back since.
func (t *Tree) Rescan(ctx context.Context) (*Tree, error) {
	now := clock()
	if !now.follows(t.at) {
		return scan(ctx, t.Root, t.options, nil, now)
	}
	return scan(ctx, t.Root, t.options, t.memory(), now)
}

// node is a directory that had to be listed, or that is in such a one. All others
// are in the memory alone.
type node struct {
	name  string
	kids  []node
	own   *listing
	was   int32 // its record in the memory, or -1
	state state
}

type state uint8

const (
	unseen   state = iota // left out, or not listed
	same                  // as its record says
	listed                // own says what is in it
	vanished              // it disappeared meanwhile
)

// listing is what a directory had when it was listed.
type listing struct {
	stamp   stamp // the zero stamp: the next scan lists it again
	entries []Entry
	err     error
}

// directory is one directory of a tree: a node, or a record of the memory.
type directory struct {
	node   *node
	record int32
}

// root is the first directory of a tree.
func (t *Tree) root() directory {
	if t.top != nil {
		return directory{node: t.top}
	}
	return t.recorded(0)
}

// recorded is the directory of a record, as it is now.
func (t *Tree) recorded(i int32) directory {
	if n := t.changed[i]; n != nil {
		return directory{node: n}
	}
	return directory{record: i}
}

// below are the sub-directories of a directory.
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

// known is the record of a directory, or -1.
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

// seen are the stamp and the entries of a directory: the zero stamp for one that
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

// sortByPath puts the lists of a tree in order.
func (t *Tree) sortByPath() {
	slices.SortFunc(t.Places, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(t.Unreadable, func(a, b Unreadable) int { return strings.Compare(a.Path, b.Path) })
}

// sort puts the entries in order. A directory that changes while it is listed can
// show one twice.
func (l *listing) sort() {
	slices.SortFunc(l.entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	l.entries = slices.CompactFunc(l.entries, func(a, b Entry) bool { return a.Name == b.Name })
}

// hang makes the nodes of a listed directory's sub-directories.
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
