package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// ErrBusy says that another process holds the lock of a directory.
var ErrBusy = errors.New("it is in use")

// Lock opens and locks a directory, exclusively if alone is set, else shared.
// Closing the file releases the lock. The error is [ErrBusy] if another process
// holds a conflicting lock (flock(2)).
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

// List returns the sorted names of the directories in a folder, except those
// that begin with a dot. It returns none if the folder does not exist.
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
		if e.IsDir() && e.Name()[0] != '.' {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Partial begins the name of a file that is still being written.
const Partial = ".new-"

// Replace writes a file of mode 0600 and renames it to name, so that a reader
// sees either the old or the new content as a whole. If durable is set, the
// content is on disk before the rename.
func Replace(dir, name string, content []byte, durable bool) error {
	return write(dir, name, content, durable, os.Rename)
}

// Place is like [Replace], but the name must not exist yet: otherwise the error
// wraps [fs.ErrExist].
func Place(dir, name string, content []byte, durable bool) error {
	return write(dir, name, content, durable, os.Link)
}

// write writes a file under a temporary name, then gives it its name with
// rename(2) or link(2).
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
	return named(f.Name(), path.Join(dir, name))
}

// RemoveTree removes a tree that belongs to the caller, including directories
// without read permission. Other processes may write in the tree meanwhile, but
// not in its parent directory.
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
	fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, _ error) error { // called before a directory is listed
		if d != nil && d.IsDir() {
			root.Chmod(at, 0o700) // stays within the tree, whatever is there by now
		}
		return nil
	})
	root.Close()
	return os.RemoveAll(dir)
}
