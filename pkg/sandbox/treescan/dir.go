package treescan

import (
	"cmp"
	"slices"
	"strings"
)

// Dir is a directory of a tree: its name, and the directory that it lies in. A
// tree holds no paths. One can have [MaxPath] bytes, a hundred times as many as
// everything else that a directory needs, and all the directories that a command
// makes may have such paths.
type Dir struct {
	above *Dir   // nil for a root
	jump  *Dir   // one further up, by which every ancestor is a few steps away
	name  string // of a root: its path
	depth int32
}

// NewDir returns the root of a tree. path is absolute and clean.
func NewDir(path string) *Dir {
	d := &Dir{name: path}
	d.jump = d
	return d
}

// Sub returns a new Dir for a subdirectory.
func (d *Dir) Sub(name string) *Dir {
	jump := d
	if far := d.jump; d.depth-far.depth == far.depth-far.jump.depth {
		jump = far.jump // as E. Myers, An applicative random-access stack, 1983
	}
	return &Dir{above: d, jump: jump, name: name, depth: d.depth + 1}
}

// Above returns the directory that d lies in, or nil for a root.
func (d *Dir) Above() *Dir { return d.above }

// Depth returns how many directories lead from the root to d.
func (d *Dir) Depth() int { return int(d.depth) }

// Path returns the path, which is not stored.
func (d *Dir) Path() string {
	if d.above == nil {
		return d.name
	}
	return string(d.appendTo(nil))
}

// Base returns the last component of the path.
func (d *Dir) Base() string { return d.name[strings.LastIndexByte(d.name, '/')+1:] }

// Names returns the names on the way from the root.
func (d *Dir) Names(yield func(name string) bool) {
	for i := int32(1); i <= d.depth; i++ {
		if !yield(d.upTo(i).name) {
			return
		}
	}
}

// appendTo appends the path, which is empty for "/".
func (d *Dir) appendTo(b []byte) []byte {
	size := 0
	top := d
	for ; top.above != nil; top = top.above {
		size += len("/") + len(top.name)
	}
	b = append(b, strings.TrimSuffix(top.name, "/")...)
	b = slices.Grow(b, size)[:len(b)+size]
	end := len(b)
	for ; d.above != nil; d = d.above {
		end -= copy(b[end-len(d.name):], d.name) + len("/")
		b[end] = '/'
	}
	return b
}

// upTo returns the ancestor at a depth, or d itself.
func (d *Dir) upTo(depth int32) *Dir {
	for d.depth > depth {
		if d.jump.depth >= depth {
			d = d.jump
		} else {
			d = d.above
		}
	}
	return d
}

// compare orders the directories of one tree by the components of their paths. A
// directory comes before those that lie in it.
func compare(a, b *Dir) int {
	depth := min(a.depth, b.depth)
	x, y := a.upTo(depth), b.upTo(depth)
	if x == y {
		return cmp.Compare(a.depth, b.depth)
	}
	for x.above != y.above {
		if x.jump != y.jump {
			x, y = x.jump, y.jump
		} else {
			x, y = x.above, y.above
		}
	}
	return strings.Compare(x.name, y.name)
}

// against compares a directory with a path, given by its components below the
// root: 0 if the directory is the one at the path, or lies in it.
func (d *Dir) against(path []string) (order int) {
	for at := d.upTo(int32(len(path))); at.above != nil; at = at.above {
		if c := strings.Compare(at.name, path[at.depth-1]); c != 0 {
			order = c
		}
	}
	if order == 0 && int(d.depth) < len(path) {
		return -1
	}
	return order
}
