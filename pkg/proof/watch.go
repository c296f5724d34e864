package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/statedir"
)

// Watch holds the content of a workspace at the start of a run.
type Watch struct {
	getenv func(string) string
	root   string
	before *gitrepo.Snapshot
	err    error
}

// Begin takes the content of root. [Watch.End] reports any error.
func Begin(ctx context.Context, getenv func(string) string, root string) *Watch {
	w := &Watch{getenv: getenv, root: root}
	w.before, w.err = Content(ctx, getenv, root)
	return w
}

// End takes the content again.
func (w *Watch) End(ctx context.Context) *record.Tree {
	tree := &record.Tree{Workspace: w.root, Argv: []string{}, Variables: []string{}}
	after, err := w.before, w.err
	if err == nil {
		after, err = gitrepo.TakeSnapshot(ctx, w.root, w.before)
	}
	if err != nil {
		tree.Reason = err.Error()
		return tree
	}
	remember(w.getenv, w.root, after)
	tree.Before, tree.After = w.before.Tree, after.Tree
	tree.Written, tree.First = after.Written(w.before)
	return tree
}

// Content returns the current content of a workspace. On file systems that record each change,
// files that were hashed before and have not changed are not read again.
func Content(ctx context.Context, getenv func(string) string, root string) (*gitrepo.Snapshot, error) {
	var known *gitrepo.Snapshot
	if device, ok := notesChanges(root); ok {
		known = load(getenv, root, lastName)
		if known != nil {
			known.Entries = slices.DeleteFunc(known.Entries, func(e gitrepo.SnapshotEntry) bool { return e.Dev != device })
		}
	}
	now, err := gitrepo.TakeSnapshot(ctx, root, known)
	if err == nil {
		remember(getenv, root, now)
	}
	return now, err
}

// Known returns a content that was seen before, or nil if it is no longer stored. It is used to
// show which files differ.
func Known(getenv func(string) string, root, tree string) *gitrepo.Snapshot {
	if strings.Trim(tree, "0123456789abcdef") != "" {
		return nil
	}
	return load(getenv, root, tree)
}

const (
	lastName  = "last"
	keptTrees = 8
)

// folderOf returns the path elements of the folder for a workspace's contents.
func folderOf(root string) []string {
	sum := sha256.Sum256([]byte(root))
	return []string{folder, hex.EncodeToString(sum[:16])}
}

func load(getenv func(string) string, root, name string) *gitrepo.Snapshot {
	dir, err := statedir.Open(getenv, folderOf(root)...)
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	s, err := decode(b)
	if err != nil {
		return nil // of another version, or truncated
	}
	return s
}

// remember stores a content, to speed up the next call and to show differences. Without it
// everything is read again.
func remember(getenv func(string) string, root string, s *gitrepo.Snapshot) {
	dir, err := statedir.Make(getenv, folderOf(root)...)
	if err != nil {
		return
	}
	if statedir.Replace(dir, s.Tree, encode(s), false) != nil {
		return
	}
	last := filepath.Join(dir, lastName)
	_ = os.Remove(last)
	_ = os.Link(filepath.Join(dir, s.Tree), last)
	forget(dir, keptTrees)
}

// forget removes all but the newest files of a folder.
func forget(dir string, kept int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	age := func(e os.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == lastName })
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return int(min(max(age(b)-age(a), -1), 1)) })
	for _, e := range entries[min(kept, len(entries)):] {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}
