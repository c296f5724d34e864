// Package faketree is a file system in memory, for testing plans without a
// kernel. It is the same on every machine and for every user.
package faketree

import (
	"ethos/pkg/ceiling"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/treescan"
)

// Tree maps absolute paths to nodes. It implements the Files interface of
// package sandbox.
type Tree map[string]*Node

// Node is one file, directory, symbolic link or socket.
type Node struct {
	name   string
	mode   fs.FileMode
	text   string // content of a file, target of a link
	UID    uint32
	closed bool // the caller cannot create files in it
	locked bool // it cannot be listed
}

// User owns everything below /home/u and /srv.
const User = 1000

// maxLinks is the kernel's MAXSYMLINKS: path_resolution(7).
const maxLinks = 40

func (t Tree) put(path string, n Node) {
	for dir := filepath.Dir(path); dir != path && t[dir] == nil; dir = filepath.Dir(dir) {
		t[dir] = &Node{name: filepath.Base(dir), mode: fs.ModeDir | 0o755, UID: ownerOf(dir)}
	}
	n.name, n.UID = filepath.Base(path), ownerOf(path)
	t[path] = &n
}

func ownerOf(path string) uint32 {
	if strings.HasPrefix(path, "/home/u") || strings.HasPrefix(path, "/srv/") {
		return User
	}
	return 0
}

// File creates a file.
func (t Tree) File(path, text string) { t.put(path, Node{mode: 0o644, text: text}) }

// Secret creates a file that only its owner can read.
func (t Tree) Secret(path string) { t.put(path, Node{mode: 0o600}) }

// Socket creates a socket.
func (t Tree) Socket(path string) { t.put(path, Node{mode: fs.ModeSocket | 0o755}) }

// Dir creates a directory.
func (t Tree) Dir(path string) { t.put(path, Node{mode: fs.ModeDir | 0o755}) }

// Link creates a symbolic link.
func (t Tree) Link(path, to string) { t.put(path, Node{mode: fs.ModeSymlink | 0o777, text: to}) }

// ClosedDir creates a directory in which its owner cannot create files.
func (t Tree) ClosedDir(path string) { t.put(path, Node{mode: fs.ModeDir | 0o555, closed: true}) }

// LockedDir creates a directory that cannot be listed.
func (t Tree) LockedDir(path string) { t.put(path, Node{mode: fs.ModeDir | 0o300, locked: true}) }

// Remove removes a path and everything below it.
func (t Tree) Remove(path string) {
	maps.DeleteFunc(t, func(at string, _ *Node) bool { return mount.Within(at, path) })
}

// Has reports whether a path exists, without following symbolic links.
func (t Tree) Has(path string) bool { return t[path] != nil }

// Paths returns all paths, sorted.
func (t Tree) Paths() []string { return slices.Sorted(maps.Keys(t)) }

func (n *Node) Name() string           { return n.name }
func (n *Node) Size() int64            { return int64(len(n.text)) }
func (n *Node) Mode() fs.FileMode      { return n.mode }
func (n *Node) ModTime() time.Time     { return time.Time{} }
func (n *Node) IsDir() bool            { return n.mode.IsDir() }
func (n *Node) Sys() any               { return &syscall.Stat_t{Uid: n.UID} }
func (n *Node) follow() (string, bool) { return n.text, n.mode&fs.ModeSymlink != 0 }

// Real resolves the symbolic links in a path, as open(2) does.
func (t Tree) Real(path string) (string, bool) {
	for range maxLinks {
		at, again := "/", ""
		for part := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
			next := filepath.Join(at, part)
			if n := t[next]; again == "" && n != nil {
				if to, ok := n.follow(); ok {
					if next = filepath.Join(at, to); filepath.IsAbs(to) {
						next = to
					}
					again = next
				}
			}
			at = next
		}
		if again == "" {
			return at, t.Has(at)
		}
		path = at
	}
	return path, false
}

func (t Tree) find(op, path string) (*Node, error) {
	if n := t[path]; n != nil {
		return n, nil
	}
	dir, ok := t.Real(filepath.Dir(path))
	if n := t[filepath.Join(dir, filepath.Base(path))]; ok && n != nil {
		return n, nil
	}
	return nil, &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
}

func (t Tree) Lstat(path string) (fs.FileInfo, error) {
	n, err := t.find("lstat", path)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (t Tree) Readlink(path string) (string, error) {
	n, err := t.find("readlink", path)
	if err != nil {
		return "", err
	}
	to, ok := n.follow()
	if !ok {
		return "", syscall.EINVAL
	}
	return to, nil
}

func (t Tree) ReadFile(path string) ([]byte, error) {
	to, ok := t.Real(path)
	if !ok || !t[to].mode.IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(t[to].text), nil
}

// ReadResolved reads a file at a path without symbolic links.
func (t Tree) ReadResolved(path string) ([]byte, error) {
	if to, ok := t.Real(path); ok && to != path {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
	}
	return t.ReadFile(path)
}

func (t Tree) Entries(path string) (list []fs.DirEntry, err error) {
	to, ok := t.Real(path)
	if !ok || !t[to].IsDir() {
		return nil, syscall.ENOTDIR
	}
	if t[to].locked {
		return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EACCES}
	}
	for at, n := range t {
		if filepath.Dir(at) == to && at != to {
			list = append(list, fs.FileInfoToDirEntry(n))
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Scan lists a tree as [treescan.Scan] does.
func (t Tree) Scan(root string, o treescan.Options) (*treescan.Tree, error) {
	tree := &treescan.Tree{Root: root}
	dirs := map[string]*treescan.Dir{root: treescan.NewDir(root)}
	var at func(dir string) *treescan.Dir
	at = func(dir string) *treescan.Dir {
		if dirs[dir] == nil {
			dirs[dir] = at(filepath.Dir(dir)).Sub(filepath.Base(dir)) // its parent may be a file or a link now: see put
		}
		return dirs[dir]
	}
	for _, dir := range t.Paths() {
		if !t[dir].IsDir() || !mount.Within(dir, root) || t.skipped(dir, root, o.Skip) {
			continue
		}
		place := treescan.Place{Dir: at(dir)}
		entries, err := t.Entries(dir)
		if err != nil {
			tree.Unreadable = append(tree.Unreadable, treescan.Unreadable{Dir: place.Dir, Err: err})
		}
		for _, e := range entries {
			if o.Interest(e.Name(), e.Type()) {
				place.Entries = append(place.Entries, treescan.Entry{Name: e.Name(), Type: e.Type()})
			}
		}
		if tree.Dirs++; len(place.Entries) > 0 {
			tree.Places = append(tree.Places, place)
		}
	}
	tree.Add(nil)
	return tree, nil
}

func (t Tree) skipped(dir, root string, skip func(string) bool) bool {
	for ; dir != root; dir = filepath.Dir(dir) {
		if skip(dir) {
			return true
		}
	}
	return false
}

// Ceiling returns the ceiling of a machine without one.
func (Tree) Ceiling() (*ceiling.Ceiling, error) { return nil, nil }

func (t Tree) Writable(dir string) bool {
	to, ok := t.Real(dir)
	return ok && t[to].UID == User && !t[to].closed
}

// Own makes a user the owner of a path and everything below it.
func (t Tree) Own(path string, uid uint32) {
	for at, n := range t {
		if mount.Within(at, path) {
			n.UID = uid
		}
	}
}

// ByRoot is a tree as seen by root, who can create files in every directory.
type ByRoot struct{ Tree }

// Writable reports whether the directory exists.
func (t ByRoot) Writable(dir string) bool {
	to, ok := t.Real(dir)
	return ok && t.Tree[to].IsDir()
}
