package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ethos/pkg/statedir"
)

// makeDir makes the directory of a store, private to its owner, hidden from git.
func makeDir(getenv func(string) string, dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.Mode().Perm() == 0o700 && own(info) {
		return noLink(dir)
	}
	if err := noLink(dir); err != nil {
		return err
	}
	if err := makeAll(getenv, dir); err != nil {
		return unwrapPath(err)
	}
	if err := private(dir); err != nil {
		return err
	}
	return ignore(dir)
}

// makeAll makes a directory and those above it. The one above may go away in between: while a command runs confined an empty
// directory may stand for it, which goes when the command ends.
func makeAll(getenv func(string) string, dir string) error {
	if own := filepath.Dir(dir); isOwn(own) {
		if err := makeOwn(getenv, own); err != nil {
			return err
		}
	}
	err := os.MkdirAll(dir, 0o700)
	for range 3 {
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		err = os.MkdirAll(dir, 0o700)
	}
	return err
}

// makeOwn makes the directory of ethos in a work space, so that a command that
// runs there is not taken for its author.
func makeOwn(getenv func(string) string, own string) error {
	root, err := os.OpenRoot(filepath.Dir(own))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nobody runs there
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return statedir.MakeDir(getenv, root, filepath.Base(own))
}

// noLink refuses a default store that a symbolic link leads out of the work space: a repository can carry such a link.
func noLink(dir string) error {
	parent := filepath.Dir(dir)
	if !isOwn(parent) {
		return nil
	}
	for _, path := range []string{parent, dir} {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			return fmt.Errorf("%s is a symbolic link", path)
		}
	}
	return nil
}

func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return unwrapPath(err)
	}
	if !own(info) {
		return errors.New("the directory belongs to another user")
	}
	if info.Mode().Perm() != 0o700 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// ignore keeps the store out of git, for the whole directory of ethos when the store is in it.
func ignore(dir string) error {
	if parent := filepath.Dir(dir); isOwn(parent) {
		dir = parent
	}
	path := filepath.Join(dir, ".gitignore")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = strings.NewReader("*\n").WriteTo(f)
	return errors.Join(err, f.Close())
}
