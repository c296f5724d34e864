//go:build !linux

package treescan

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
)

// scan lists the tree without a memory, and by path: plans are made for other
// systems too, but nothing runs there.
func scan(ctx context.Context, root string, o Options, _ *memory, now moment) (*Tree, error) {
	t := &Tree{Root: root, options: o, at: now, top: &node{was: -1}}
	info, err := os.Lstat(root)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: root, Err: errors.New("not a directory")}
	}
	var found []*node
	for todo := []*node{t.top}; len(todo) > 0 && ctx.Err() == nil; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		path := string(n.path(root, nil))
		if n.parent != nil && o.Skip != nil && o.Skip(path) {
			continue
		}
		if n.visit(path, o.Interest); n.state == vanished {
			continue
		}
		t.Dirs, t.Listed = t.Dirs+1, t.Listed+1
		found = append(found, n)
		for i := range n.kids {
			todo = append(todo, &n.kids[i])
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.assemble(found)
	return t, nil
}

func (n *node) visit(path string, interest func(string, fs.FileMode) bool) {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		n.state = vanished
		return
	}
	n.state, n.own = listed, &listing{err: err}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
		if interest(e.Name(), e.Type()) {
			n.own.entries = append(n.own.entries, Entry{e.Name(), e.Type()})
		}
	}
	n.hang(slices.Clip(names), nil)
	n.own.sort()
}

func clock() moment { return moment{} }

func recall(string, string, moment) *memory { return nil }
