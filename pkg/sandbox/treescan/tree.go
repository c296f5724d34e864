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
	top     *node
	old     *memory // what the scan started from
	fresh   int     // directories that the next scan need not list and this one had to
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
	// Skip leaves out directories by absolute path, with all that lies below.
	Skip func(path string) bool
	// Memory is the file of the memory; "" for none.
	Memory string

	coarse func() timestamp // in tests, the clock that inodes are stamped by
}

// Scan lists root, an absolute path without symbolic links, and everything below
// it. The error is the context's, or says why root is not a directory that can be
// opened; a root that may not be listed is in [Tree.Unreadable].
func Scan(ctx context.Context, root string, o Options) (*Tree, error) {
	now := clock()
	return scan(ctx, root, o, recall(o.Memory, identity(root, o.InterestID, now), now), now)
}

// Rescan scans the same tree again, with what t saw as its memory.
func (t *Tree) Rescan(ctx context.Context) (*Tree, error) {
	return scan(ctx, t.Root, t.options, t.memory(), clock())
}

// node is one directory of a scan.
type node struct {
	parent *node
	name   string
	kids   []node
	own    *listing
	was    int32 // its record in the memory, or -1
	length int32 // of the path below root
	state  state
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

// assemble makes the lists of a tree out of the nodes that have something to
// tell.
func (t *Tree) assemble(found []*node) {
	for _, n := range found {
		path := string(n.path(t.Root, nil))
		entries := n.entriesIn(t.old)
		if len(entries) > 0 {
			t.Places = append(t.Places, Place{path, entries})
		}
		if n.own != nil && n.own.err != nil {
			t.Unreadable = append(t.Unreadable, Unreadable{path, n.own.err})
		}
	}
	slices.SortFunc(t.Places, func(a, b Place) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(t.Unreadable, func(a, b Unreadable) int { return strings.Compare(a.Path, b.Path) })
}

// entriesIn are the directory's entries of interest, listed or remembered.
func (n *node) entriesIn(old *memory) []Entry {
	if n.state == same {
		return old.entriesOf(int(n.was))
	}
	if n.own == nil {
		return nil
	}
	return n.own.entries
}

// path writes the absolute path into buf.
func (n *node) path(root string, buf []byte) []byte {
	if root == "/" {
		root = ""
	}
	size := len(root) + 1 + int(n.length)
	if n.parent == nil {
		return append(append(buf[:0], root...), '/')[:max(size-1, 1)]
	}
	buf = slices.Grow(buf[:0], size+1)[:size] // and room for a final zero byte
	at := size
	for ; n.parent != nil; n = n.parent {
		at -= len(n.name)
		copy(buf[at:], n.name)
		at--
		buf[at] = '/'
	}
	copy(buf, root)
	return buf
}

// below makes the nodes of sub-directories.
func (n *node) below(count int) []node {
	n.kids = make([]node, count)
	return n.kids
}

// init sets what a node of one name is.
func (n *node) init(parent *node, name string, was int32) {
	n.parent, n.name, n.was = parent, name, was
	n.length = int32(len(name))
	if parent.parent != nil {
		n.length += parent.length + 1
	}
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
	kids, all := n.below(len(names)), strings.Join(names, "")
	for i, name := range names {
		was := int32(-1)
		if n.was >= 0 {
			was = old.find(int(n.was), name)
		}
		kids[i].init(n, all[:len(name)], was)
		all = all[len(name):]
	}
}
