package sandbox

import (
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

// fakeTree is a file system in memory: [Files] for plans that no kernel has to see.
type fakeTree map[string]*node

type node struct {
	name   string
	mode   fs.FileMode
	text   string // of a file its content, of a link where it leads
	uid    uint32
	closed bool // the caller cannot make files in it
}

// treeUser is whom everything below /home and /srv belongs to.
const treeUser = 1000

func (t fakeTree) put(path string, n node) {
	for dir := filepath.Dir(path); dir != path && t[dir] == nil; dir = filepath.Dir(dir) {
		t[dir] = &node{name: filepath.Base(dir), mode: fs.ModeDir | 0o755, uid: treeOwner(dir)}
	}
	n.name, n.uid = filepath.Base(path), treeOwner(path)
	t[path] = &n
}

func treeOwner(path string) uint32 {
	if strings.HasPrefix(path, "/home/u") || strings.HasPrefix(path, "/srv/") {
		return treeUser
	}
	return 0
}

func (t fakeTree) file(path, text string) { t.put(path, node{mode: 0o644, text: text}) }
func (t fakeTree) dir(path string)        { t.put(path, node{mode: fs.ModeDir | 0o755}) }
func (t fakeTree) link(path, to string)   { t.put(path, node{mode: fs.ModeSymlink | 0o777, text: to}) }
func (t fakeTree) closedDir(path string)  { t.put(path, node{mode: fs.ModeDir | 0o555, closed: true}) }
func (t fakeTree) has(path string) bool   { return t[path] != nil }
func (t fakeTree) paths() []string        { return slices.Sorted(maps.Keys(t)) }
func (n *node) Name() string              { return n.name }
func (n *node) Size() int64               { return int64(len(n.text)) }
func (n *node) Mode() fs.FileMode         { return n.mode }
func (n *node) ModTime() time.Time        { return time.Time{} }
func (n *node) IsDir() bool               { return n.mode.IsDir() }
func (n *node) Sys() any                  { return &syscall.Stat_t{Uid: n.uid} }
func (n *node) follow() (string, bool)    { return n.text, n.mode&fs.ModeSymlink != 0 }

// real follows the links in a path, as open(2) does.
func (t fakeTree) real(path string) (string, bool) {
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
			return at, t.has(at)
		}
		path = at
	}
	return path, false
}

func (t fakeTree) find(op, path string) (*node, error) {
	if n := t[path]; n != nil {
		return n, nil
	}
	dir, ok := t.real(filepath.Dir(path))
	if n := t[filepath.Join(dir, filepath.Base(path))]; ok && n != nil {
		return n, nil
	}
	return nil, &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
}

func (t fakeTree) Lstat(path string) (fs.FileInfo, error) {
	n, err := t.find("lstat", path)
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (t fakeTree) Readlink(path string) (string, error) {
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

func (t fakeTree) ReadFile(path string) ([]byte, error) {
	to, ok := t.real(path)
	if !ok || !t[to].mode.IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(t[to].text), nil
}

func (t fakeTree) Entries(path string) (list []fs.DirEntry, err error) {
	to, ok := t.real(path)
	if !ok || !t[to].IsDir() {
		return nil, syscall.ENOTDIR
	}
	for at, n := range t {
		if filepath.Dir(at) == to && at != to {
			list = append(list, fs.FileInfoToDirEntry(n))
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Scan lists the tree as [treescan.Scan] does.
func (t fakeTree) Scan(root string, o treescan.Options) (*treescan.Tree, error) {
	tree := &treescan.Tree{Root: root}
	for _, dir := range t.paths() {
		if !t[dir].IsDir() || !mount.Within(dir, root) || t.skipped(dir, root, o.Skip) {
			continue
		}
		place := treescan.Place{Path: dir}
		entries, _ := t.Entries(dir)
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

func (t fakeTree) skipped(dir, root string, skip func(string) bool) bool {
	for ; dir != root; dir = filepath.Dir(dir) {
		if skip(dir) {
			return true
		}
	}
	return false
}

func (t fakeTree) Writable(dir string) bool {
	to, ok := t.real(dir)
	return ok && t[to].uid == treeUser && !t[to].closed
}
