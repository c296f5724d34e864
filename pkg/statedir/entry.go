package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrBusy says that another process holds the lock of a directory.
var ErrBusy = errors.New("it is in use")

// Lock opens a directory, for this process alone or as one of several, until it
// is closed. The error is [ErrBusy] where another process holds it (flock(2)).
func Lock(dir string, alone bool) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrBusy
		}
		return nil, err
	}
	return f, nil
}

// List are the names of the directories in a folder, sorted, without those that
// begin with a dot. There are none where the folder does not exist.
func List(getenv func(string) string, folder string) (names []string, err error) {
	base, err := Open(getenv, folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(base)
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Partial begins the name of a file that is being written.
const Partial = ".new-"

// Replace puts a file of mode 0600 in the place of the one of this name: who
// reads it meets the one or the other whole. A durable one is on the disk before
// it has its name.
func Replace(dir, name string, content []byte, durable bool) error {
	return write(dir, name, content, durable, os.Rename)
}

// Place is [Replace] where there is no file of this name. The error wraps
// [fs.ErrExist] where there is one.
func Place(dir, name string, content []byte, durable bool) error {
	return write(dir, name, content, durable, os.Link)
}

// write writes a file under a name of its own, and gives it its name by rename(2)
// or link(2).
func write(dir, name string, content []byte, durable bool, named func(from, to string) error) error {
	f, err := os.CreateTemp(dir, Partial)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Chmod(0o600), f.Close()); err != nil {
		return err
	}
	return named(f.Name(), filepath.Join(dir, name))
}

// RemoveTree removes a tree of the caller's, also directories that nobody may
// list. Somebody else may write in it meanwhile, but not where the tree itself is.
func RemoveTree(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() {
		os.Chmod(dir, 0o700)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, _ error) error { // called before a directory is listed
		if d != nil && d.IsDir() {
			root.Chmod(path, 0o700) // of nothing outside of the tree, whatever stands there by now
		}
		return nil
	})
	root.Close()
	return os.RemoveAll(dir)
}
