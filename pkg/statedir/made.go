package statedir

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// noteName is the folder in which directories are noted that were made a moment
// ago; noteLife is how long a note counts. An inode number can be used again.
const (
	noteName = "made"
	noteLife = time.Minute
)

// MakeDir makes a directory of ethos's own in a work space, with mode 0700 and a
// .gitignore that matches everything, and notes that it was not a confined
// command that did: [JustMade]. It has another name until that is noted; one that
// was left there by a process that was killed is removed. One that is there
// already is left: rename(2) replaces no directory that has something in it.
func MakeDir(getenv func(string) string, in *os.Root, name string) error {
	if _, err := in.Lstat(name); err == nil {
		return nil
	}
	var err error
	for range 50 { // another process may take a directory away before its maker holds the lock
		removeLeft(in, name)
		err = makeNoted(getenv, in, name)
		if _, there := in.Lstat(name); there == nil { // also when somebody else was faster
			return nil
		}
	}
	return err
}

// makeNoted makes a directory under a name of its own, notes it, and renames it.
// While it is at it, it holds a lock on the directory: see [removeLeft].
func makeNoted(getenv func(string) string, in *os.Root, name string) error {
	var random [freshBytes]byte
	rand.Read(random[:])
	fresh := name + "." + hex.EncodeToString(random[:])
	if err := in.Mkdir(fresh, 0o700); err != nil {
		return err
	}
	root, dir, err := openFresh(in, fresh)
	if err != nil {
		return err
	}
	defer root.Close()
	defer dir.Close()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if err = root.WriteFile(".gitignore", []byte("*\n"), 0o600); err == nil {
		if info, statErr := dir.Stat(); statErr == nil {
			_ = note(getenv, info) // without it, a run that is under way puts the directory aside and says so
		}
		if err = in.Rename(fresh, name); err == nil {
			return nil
		}
	}
	removeFresh(in, fresh, root)
	return err
}

// openFresh opens a directory, and nothing that was put in its place: a FIFO
// would keep its opener waiting, and a link would lead elsewhere. With "." behind
// it the name is opened as a directory or not at all.
func openFresh(in *os.Root, fresh string) (root *os.Root, dir *os.File, err error) {
	if root, err = in.OpenRoot(fresh + "/."); err != nil {
		return nil, nil, err
	}
	if dir, err = root.Open("."); err == nil {
		if isNamed(in, fresh, dir) {
			return root, dir, nil
		}
		dir.Close()
	}
	root.Close()
	if err == nil {
		err = fmt.Errorf("%s is not the directory that was made", fresh)
	}
	return nil, nil, err
}

// freshBytes is how many random bytes the name of a new directory has.
const freshBytes = 8

// removeLeft removes what a process that was killed in [makeNoted] left: nobody
// holds its lock. Only an empty directory, or one with nothing but .gitignore,
// goes.
func removeLeft(in *os.Root, name string) {
	here, err := in.Open(".")
	if err != nil {
		return
	}
	defer here.Close()
	entries, _ := here.ReadDir(-1)
	for _, e := range entries {
		random, ok := strings.CutPrefix(e.Name(), name+".")
		if _, err := hex.DecodeString(random); !ok || err != nil || len(random) != 2*freshBytes || !e.IsDir() {
			continue
		}
		root, dir, err := openFresh(in, e.Name())
		if err != nil {
			continue
		}
		if syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil && isNamed(in, e.Name(), dir) {
			removeFresh(in, e.Name(), root)
		}
		dir.Close()
		root.Close()
	}
}

// isNamed reports whether a name is still that of an open directory: its maker may have renamed it before it let go of the lock.
func isNamed(in *os.Root, name string, dir *os.File) bool {
	named, err := in.Lstat(name)
	if err != nil {
		return false
	}
	opened, err := dir.Stat()
	return err == nil && os.SameFile(opened, named)
}

// removeFresh removes an open directory of this name, and .gitignore in it.
func removeFresh(in *os.Root, fresh string, root *os.Root) {
	_ = root.Remove(".gitignore")
	_ = in.Remove(fresh)
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
