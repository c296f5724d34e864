package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// GitTrees stores, for package gitguard, what git may run by itself in a work tree. An entry
// records the inodes of the tree and of its .git, so it does not hold for another work tree that is
// put in the same place.
type GitTrees struct {
	Memory *Memory
	Now    func() time.Time
}

// Load returns what is trusted in the work tree root. It returns nothing if no person has been
// asked.
func (g GitTrees) Load(root string) ([]string, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	e, err := g.Memory.Load(Git, root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(e.Text), "\n"), "\n")
	marks, err := marksOf(root)
	if err != nil || lines[0] != marks { // another work tree is there now
		return nil, err
	}
	return lines[1:], nil
}

// Save stores list as trusted and replaces the earlier list.
func (g GitTrees) Save(root string, list []string) error {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return err
	}
	marks, err := marksOf(root)
	if err != nil {
		return err
	}
	text := strings.Join(append([]string{marks}, list...), "\n") + "\n"
	return g.Memory.Save(Entry{Kind: Git, Path: root, Text: []byte(text)}, g.Now())
}

// marksOf identifies a work tree by the inodes of its directory and of its .git, so that another
// tree at the same path differs. The inode of a .git that lies elsewhere is 0.
func marksOf(root string) (string, error) {
	var tree, git syscall.Stat_t
	if err := syscall.Stat(root, &tree); err != nil {
		return "", &fs.PathError{Op: "stat", Path: root, Err: err}
	}
	if err := syscall.Stat(filepath.Join(root, ".git"), &git); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", &fs.PathError{Op: "stat", Path: filepath.Join(root, ".git"), Err: err}
	}
	return fmt.Sprintf("%d %d", tree.Ino, git.Ino), nil
}
