// Package faketree is a file system in memory: what planning sees where no kernel
// has to. It is the same on every machine and for every user.
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

// Tree is the nodes by their absolute paths. It implements the Files interface
// of package sandbox.
type Tree map[string]*Node

// Node is one file, directory, link or socket.
type Node struct {
	name   string
	mode   fs.FileMode
	text   string // of a file its content, of a link where it leads
	UID    uint32
	closed bool // the caller cannot make files in it
	locked bool // it cannot be listed
}

// User is whom everything below /home/u and /srv belongs to.
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

// File makes a file.
func (t Tree) File(path, text string) { t.put(path, Node{mode: 0o644, text: text}) }

// Secret makes a file that its owner alone can read.
func (t Tree) Secret(path string) { t.put(path, Node{mode: 0o600}) }

// Socket makes a socket.
func (t Tree) Socket(path string) { t.put(path, Node{mode: fs.ModeSocket | 0o755}) }

// Dir makes a directory.
func (t Tree) Dir(path string) { t.put(path, Node{mode: fs.ModeDir | 0o755}) }

// Link makes a symbolic link.
func (t Tree) Link(path, to string) { t.put(path, Node{mode: fs.ModeSymlink | 0o777, text: to}) }

// ClosedDir makes a directory in which its owner cannot make files.
func (t Tree) ClosedDir(path string) { t.put(path, Node{mode: fs.ModeDir | 0o555, closed: true}) }

// LockedDir makes a directory that cannot be listed.
func (t Tree) LockedDir(path string) { t.put(path, Node{mode: fs.ModeDir | 0o300, locked: true}) }

// Remove takes away what is at a path, and all below.
func (t Tree) Remove(path string) {
	maps.DeleteFunc(t, func(at string, _ *Node) bool { return mount.Within(at, path) })
}

// Has reports whether there is something at a path that leads over no link.
func (t Tree) Has(path string) bool { return t[path] != nil }

// Paths lists all there is, sorted.
func (t Tree) Paths() []string { return slices.Sorted(maps.Keys(t)) }

func (n *Node) Name() string           { return n.name }
func (n *Node) Size() int64            { return int64(len(n.text)) }
func (n *Node) Mode() fs.FileMode      { return n.mode }
func (n *Node) ModTime() time.Time     { return time.Time{} }
func (n *Node) IsDir() bool            { return n.mode.IsDir() }
func (n *Node) Sys() any               { return &syscall.Stat_t{Uid: n.UID} }
func (n *Node) follow() (string, bool) { return n.text, n.mode&fs.ModeSymlink != 0 }

// Real follows the links in a path, as open(2) does.
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

// ReadResolved reads a file at a path in which nothing is a link.
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
	for _, dir := range t.Paths() {
		if !t[dir].IsDir() || !mount.Within(dir, root) || t.skipped(dir, root, o.Skip) {
			continue
		}
		place := treescan.Place{Path: dir}
		entries, err := t.Entries(dir)
		if err != nil {
			tree.Unreadable = append(tree.Unreadable, treescan.Unreadable{Path: dir, Err: err})
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

// Ceiling is that of a machine without one.
func (Tree) Ceiling() (*ceiling.Ceiling, error) { return nil, nil }

func (t Tree) Writable(dir string) bool {
	to, ok := t.Real(dir)
	return ok && t[to].UID == User && !t[to].closed
}

// Own gives everything at a path, and below it, to a user.
func (t Tree) Own(path string, uid uint32) {
	for at, n := range t {
		if mount.Within(at, path) {
			n.UID = uid
		}
	}
}

// ByRoot is a tree as root sees it, who can make files in every directory.
type ByRoot struct{ Tree }

// Writable reports whether there is such a directory.
func (t ByRoot) Writable(dir string) bool {
	to, ok := t.Real(dir)
	return ok && t.Tree[to].IsDir()
}
