package statedir

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Directory is where [MakeDir] makes a directory: an [os.Root].
type Directory interface {
	Mkdir(name string, mode fs.FileMode) error
	Lstat(name string) (fs.FileInfo, error)
	Rename(from, to string) error
	WriteFile(name string, text []byte, mode fs.FileMode) error
	Remove(name string) error
}

// noteName is the folder in which directories are noted that were made a moment
// ago; noteLife is how long a note counts. An inode number can be used again.
const (
	noteName = "made"
	noteLife = time.Minute
)

// MakeDir makes a directory of ethos's own in a work space, with mode 0700 and a
// .gitignore that matches everything, and notes that it was not a confined
// command that did: [JustMade]. It has another name until that is noted. One
// that is there already is left: rename(2) replaces no directory that has
// something in it.
func MakeDir(getenv func(string) string, in Directory, name string) error {
	if _, err := in.Lstat(name); err == nil {
		return nil
	}
	var random [8]byte
	rand.Read(random[:])
	fresh := name + "." + hex.EncodeToString(random[:])
	if err := in.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	info, err := in.Lstat(fresh)
	if err == nil {
		err = in.WriteFile(fresh+"/.gitignore", []byte("*\n"), 0o600)
	}
	if err == nil {
		_ = note(getenv, info) // without it, a run that is under way puts the directory aside and says so
		if err = in.Rename(fresh, name); err == nil {
			return nil
		}
	}
	_ = in.Remove(fresh + "/.gitignore")
	_ = in.Remove(fresh)
	if _, there := in.Lstat(name); there == nil { // somebody else was faster
		return nil
	}
	return err
}

// JustMade reports whether a directory is one that [MakeDir] made within the
// last minute.
func JustMade(getenv func(string) string, info fs.FileInfo) bool {
	dir, err := Open(getenv, noteName)
	if err != nil {
		return false
	}
	name, ok := identity(info)
	if !ok || !info.IsDir() {
		return false
	}
	noted, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && time.Since(noted.ModTime()).Abs() < noteLife
}

func note(getenv func(string) string, info fs.FileInfo) error {
	dir, err := Make(getenv, noteName)
	if err != nil {
		return err
	}
	prune(dir)
	name, ok := identity(info)
	if !ok {
		return fs.ErrInvalid
	}
	return os.WriteFile(filepath.Join(dir, name), nil, 0o600)
}

// prune removes notes that do not count any more.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()).Abs() >= noteLife {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// identity names a directory of this machine.
func identity(info fs.FileInfo) (string, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%d-%d", st.Dev, st.Ino), true
}
