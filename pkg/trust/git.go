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

// GitTrees is the memory's part for package gitguard: what git may run by itself
// in a work tree. An entry holds for the work tree that was looked at and for no
// other that is put in its place: it has the inodes of the tree and of its .git.
type GitTrees struct {
	Memory *Memory
	Now    func() time.Time
}

// Load returns what is trusted in the work tree root, nothing where nobody was
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
	if err != nil || lines[0] != marks { // another work tree stands there now
		return nil, err
	}
	return lines[1:], nil
}

// Save trusts a list in the place of the one that was there.
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

// marksOf tells a work tree from another at the same place: the inodes of it and
// of its .git, 0 where that is elsewhere.
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
