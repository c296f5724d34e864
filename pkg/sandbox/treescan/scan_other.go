//go:build !linux

package treescan

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// scan lists the tree by path and without a memory. Plans are made for other
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
	if o.Dir == nil {
		o.Dir = NewDir(root)
	}
	type job struct {
		n   *node
		dir *Dir
	}
	for todo := []job{{t.top, o.Dir}}; len(todo) > 0 && ctx.Err() == nil; {
		j := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		path := j.dir.Path()
		if j.dir != o.Dir && o.Skip != nil && o.Skip(path) {
			continue
		}
		if j.n.visit(path, o.Interest); j.n.state == vanished {
			continue
		}
		t.Dirs, t.Listed = t.Dirs+1, t.Listed+1
		if len(j.n.own.entries) > 0 {
			t.Places = append(t.Places, Place{j.dir, j.n.own.entries})
		}
		if j.n.own.err != nil {
			t.Unreadable = append(t.Unreadable, Unreadable{j.dir, j.n.own.err})
		}
		for i := range j.n.kids {
			todo = append(todo, job{&j.n.kids[i], j.dir.Sub(j.n.kids[i].name)})
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.sort()
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

// openFile opens a path, and checks for symbolic links afterwards.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	there, lost := os.Lstat(path)
	real, unclear := filepath.EvalSymlinks(path)
	if err = errors.Join(err, lost, unclear); err == nil && (real != filepath.Clean(path) || !os.SameFile(opened, there)) {
		err = syscall.ELOOP
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func clock() moment { return moment{} }

func recall(string, string, moment) *memory { return nil }
