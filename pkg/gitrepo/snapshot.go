package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of a snapshot.
const (
	maxSnapshot      = 2_000_000
	maxSnapshotDepth = 200
	// unsteady is how long after a change another change may get the same time, because file
	// timestamps advance in steps of at most 10 ms.
	unsteady = 20 * time.Millisecond
	// steadyTries limits how often a snapshot starts again because the directory is written to.
	steadyTries = 40
)

// ErrUnsteady says that files were written too fast for a consistent snapshot.
var ErrUnsteady = errors.New("it is being written to")

// Snapshot is the content of a directory at one moment, with the name that git gives it.
type Snapshot struct {
	// Tree is the name of the git tree, in hexadecimal. It equals that of `git add --all && git
	// write-tree` if no file is converted and all patterns are in .gitignore files in the
	// directory.
	Tree string
	// Entries are the files, and the directories with their times, ordered by path.
	Entries []SnapshotEntry
}

// SnapshotEntry is one file, symbolic link, directory or repository of a snapshot.
type SnapshotEntry struct {
	Path string // relative to the root; "" is the root
	Mode uint32 // as in a git tree: 0100644, 0100755, 0120000, 0160000, 040000
	OID  string // as bytes
	// The result of stat(2). A file for which it is the same later is the same file with the same
	// content.
	Dev, Ino, Size uint64
	Changed        int64 // ctime, nanoseconds
	Modified       int64 // mtime
	Read           int64 // when reading it began, in nanoseconds
}

const (
	modeTree    = 0o040000
	modeLink    = 0o120000
	modeFile    = 0o100644
	modeProgram = 0o100755
)

// TakeSnapshot hashes the files of a directory that are tracked, or neither tracked nor ignored. It
// starts no process and applies no filter, attribute or setting of the repository. Of these it
// reads only the object format, the names in the index, and .gitignore files, which are part of the
// content themselves. info/exclude and core.excludesFile, which a command can write, are not used.
//
// A nested repository counts as its commit only if its work tree equals that commit; otherwise it
// counts as a directory.
//
// Hashes in known are reused for files whose inode, size and times are the same and are older than
// the time at which known was read; nil hashes everything. The content is that of one moment: if a
// file or directory changes in the meantime, the search starts again, and if this does not end, the
// error is [ErrUnsteady]. If a file cannot be read, or is neither file, link nor directory, the
// error names it.
func TakeSnapshot(ctx context.Context, root string, known *Snapshot) (*Snapshot, error) {
	root, err := physical(root)
	if err != nil {
		return nil, err
	}
	var last *Snapshot
	for range steadyTries {
		s := newSnapper(ctx, root, known)
		now, err := s.take()
		if err != nil && !errors.Is(err, errMoved) {
			return nil, fmt.Errorf("content of %s: %w", root, err)
		}
		if err == nil && last != nil && s.hashed == 0 && !s.recent && now.sameStat(last) {
			return now, nil
		}
		if err == nil && (s.recent || last != nil) {
			time.Sleep(unsteady)
		}
		if last = now; err == nil {
			known = now
		}
	}
	return nil, fmt.Errorf("content of %s: %w", root, ErrUnsteady)
}

// errMoved says that a file changed between two reads.
var errMoved = errors.New("changed meanwhile")

// snapper is the state of one snapshot.
type snapper struct {
	ctx    context.Context
	root   string
	known  map[string]*SnapshotEntry
	hash   int
	all    []*snapNode
	queue  []*snapNode // to be hashed
	hashed int
	holes  atomic.Int64 // bytes of holes in the files that were read
	recent bool         // something changed very recently
}

// snapNode is a file or directory.
type snapNode struct {
	SnapshotEntry
	name   string
	items  []*snapNode
	nested *place // a repository of its own
}

func newSnapper(ctx context.Context, root string, known *Snapshot) *snapper {
	s := &snapper{ctx: ctx, root: root, known: map[string]*SnapshotEntry{}, hash: 20}
	if known != nil {
		for i := range known.Entries {
			s.known[known.Entries[i].Path] = &known.Entries[i]
		}
	}
	return s
}

func (s *snapper) take() (*Snapshot, error) {
	top := &snapNode{}
	if err := s.stat(top); err != nil {
		return nil, err
	}
	if top.Mode != modeTree {
		return nil, errors.New("not a directory")
	}
	scope := &snapScope{}
	at, err := probe(s.root, Options{})
	if err == nil && at.top == "" {
		at = place{}
	}
	if err == nil && at.gitDir != "" {
		s.hash = hashSize(at.commonDir)
		scope, err = s.scope("", at)
	}
	if err != nil {
		return nil, err
	}
	if err := s.dir(top, scope, nil, false, 0); err != nil {
		return nil, err
	}
	if err := s.hashAll(); err != nil {
		return nil, err
	}
	tree, err := s.tree(top)
	if err != nil {
		return nil, err
	}
	out := &Snapshot{Tree: fmt.Sprintf("%x", tree)}
	for _, n := range s.all {
		out.Entries = append(out.Entries, n.SnapshotEntry)
	}
	slices.SortFunc(out.Entries, func(a, b SnapshotEntry) int { return compareText(a.Path, b.Path) })
	return out, nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// snapScope is the repository that a directory belongs to.
type snapScope struct {
	tracked map[string]bool   // names in its index, relative to the snapshot's root
	dirs    map[string]bool   // directories that contain one of them
	links   map[string]string // repositories in its index, and their commits
}

// scope reads the names in an index. It trusts nothing else in it, because a command can write it.
func (s *snapper) scope(base string, at place) (*snapScope, error) {
	out := &snapScope{tracked: map[string]bool{}, dirs: map[string]bool{base: true}, links: map[string]string{}}
	size := hashSize(at.commonDir)
	file := filepath.Join(at.gitDir, "index")
	for file != "" {
		text, err := readFile(file, maxIndex)
		if errors.Is(err, fs.ErrNotExist) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var entries []indexEntry
		r := indexReader{text: text, hash: size, all: &entries}
		if err := r.entries(); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for _, e := range entries {
			out.add(path.Join(base, e.name), e)
		}
		file = ""
		if shared := r.base(); shared != "" { // a split index: names that it removed still count, and so do ignored files of them
			file = filepath.Join(at.gitDir, "sharedindex."+shared)
			if _, err := os.Lstat(file); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (s *snapScope) add(name string, e indexEntry) {
	s.tracked[name] = true
	if e.mode == gitlinkMode && e.stage == 0 {
		s.links[name] = e.oid
	}
	for dir := path.Dir(name); dir != "." && !s.dirs[dir]; dir = path.Dir(dir) {
		s.dirs[dir] = true
	}
}

// dir lists a directory. hidden says that a pattern ignores the directory, so that only tracked
// names in it count.
func (s *snapper) dir(n *snapNode, in *snapScope, at ignores, hidden bool, depth int) error {
	if depth > maxSnapshotDepth || len(s.all) > maxSnapshot {
		return fmt.Errorf("%s: %w", n.Path, ErrTooLarge)
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	list, err := os.ReadDir(filepath.Join(s.root, n.Path))
	if err != nil {
		return moved(err)
	}
	var items []*snapNode
	patterns := false
	for _, item := range list {
		if item.Name() == ".git" {
			continue
		}
		child := &snapNode{name: item.Name()}
		child.Path = path.Join(n.Path, item.Name())
		if err := s.stat(child); err != nil {
			return err
		}
		patterns = patterns || item.Name() == ".gitignore" && child.Mode != modeLink && child.Mode != modeTree
		items = append(items, child)
	}
	if patterns { // after its times were read, so that a change in between is noticed
		at = append(slices.Clip(at), readIgnore(filepath.Join(s.root, n.Path, ".gitignore"), n.Path))
	}
	for _, child := range items {
		if err := s.item(n, child, in, at, hidden, depth); err != nil {
			return err
		}
	}
	s.all = append(s.all, n)
	return nil
}

func (s *snapper) item(n, child *snapNode, in *snapScope, at ignores, hidden bool, depth int) error {
	ignored := hidden || at.ignored(child.Path, child.Mode == modeTree)
	holds := in.tracked[child.Path] || in.dirs[child.Path]
	if ignored && !holds {
		return nil
	}
	switch child.Mode {
	case modeTree:
		if err := s.enter(child, in, at, ignored && !in.tracked[child.Path], depth); err != nil {
			return err
		}
		if link := in.links[child.Path]; child.nested == nil && link != "" && s.empty(child) {
			child.Mode, child.OID = gitlinkMode, link // a submodule that is not checked out
		} else if len(child.items) == 0 && child.nested == nil {
			return nil // git stores no empty directories, but their times count
		}
	case 0:
		return fmt.Errorf("%s: %w", child.Path, ErrIrregular)
	default:
		s.want(child)
		s.all = append(s.all, child)
	}
	n.items = append(n.items, child)
	return nil
}

// enter lists a directory that may be a repository of its own.
func (s *snapper) enter(n *snapNode, in *snapScope, at ignores, hidden bool, depth int) error {
	if occupied(filepath.Join(s.root, n.Path, ".git")) {
		if inner, err := probe(filepath.Join(s.root, n.Path), Options{}); err == nil && inner.gitDir != "" && inner.top != "" {
			if hashSize(inner.commonDir) != s.hash {
				return fmt.Errorf("%s: a repository with another format of objects", n.Path)
			}
			scope, err := s.scope(n.Path, inner)
			if err != nil {
				return err
			}
			n.nested = &inner
			return s.dir(n, scope, nil, false, depth+1)
		}
	}
	return s.dir(n, in, at, hidden, depth+1)
}

func (s *snapper) empty(n *snapNode) bool {
	list, err := os.ReadDir(filepath.Join(s.root, n.Path))
	return err == nil && len(list) == 0
}

// stat sets the fields that are known without reading. Mode is 0 for a file that git does not
// store.
func (s *snapper) stat(n *snapNode) error {
	n.Read = time.Now().UnixNano()
	info, err := os.Lstat(filepath.Join(s.root, n.Path))
	if err != nil {
		return moved(err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	changed, known := changeTime(info)
	if !ok || !known {
		return fmt.Errorf("%s: its times cannot be read", n.Path)
	}
	n.Dev, n.Ino, n.Size = uint64(st.Dev), st.Ino, uint64(info.Size())
	n.Changed, n.Modified = changed.UnixNano(), info.ModTime().UnixNano()
	switch mode := info.Mode(); {
	case mode.IsDir():
		n.Mode, n.Size = modeTree, 0
	case mode&fs.ModeSymlink != 0:
		n.Mode = modeLink
	case mode.IsRegular() && mode&0o100 != 0:
		n.Mode = modeProgram
	case mode.IsRegular():
		n.Mode = modeFile
	}
	if n.Mode == modeTree && !n.steady() {
		s.recent = true
	}
	return nil
}

// moved converts the error for a file that existed a moment ago.
func moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return errMoved
	}
	return err
}

// steady reports whether a change after the read would be visible in its time.
func (e *SnapshotEntry) steady() bool { return e.Changed+int64(unsteady) < e.Read }

// same reports whether nothing was written between two reads.
func (e *SnapshotEntry) same(o *SnapshotEntry) bool {
	return e.Mode == o.Mode && e.Dev == o.Dev && e.Ino == o.Ino && e.Size == o.Size && e.Changed == o.Changed && e.Modified == o.Modified
}

// want takes a file's hash from the known snapshot, or schedules it to be hashed.
func (s *snapper) want(n *snapNode) {
	if k := s.known[n.Path]; k != nil && k.same(&n.SnapshotEntry) && k.steady() && len(k.OID) == s.hash {
		n.OID, n.Read = k.OID, k.Read
		return
	}
	s.queue = append(s.queue, n)
}

// sameStat reports whether two reads found the same files.
func (s *Snapshot) sameStat(o *Snapshot) bool {
	return slices.EqualFunc(s.Entries, o.Entries, func(a, b SnapshotEntry) bool { return a.Path == b.Path && a.same(&b) && a.OID == b.OID })
}
