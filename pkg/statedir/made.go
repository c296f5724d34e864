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

// noteName is the folder with notes about directories that ethos has just created. noteLife is how
// long a note is valid; it is short because inode numbers are reused.
const (
	noteName = "made"
	noteLife = time.Minute
)

// MakeDir creates a directory for ethos in a workspace, with mode 0700 and a .gitignore that
// matches everything. It notes that no confined command created it: see [JustMade]. Until the note
// is written the directory has a temporary name; MakeDir removes temporary directories that killed
// processes left. It leaves an existing directory alone: rename(2) does not replace a directory
// that is not empty.
func MakeDir(getenv func(string) string, in *os.Root, name string) error {
	if _, err := in.Lstat(name); err == nil {
		return nil
	}
	var err error
	for range 50 { // another process may remove a directory before its creator holds the lock
		removeLeft(in, name)
		err = makeNoted(getenv, in, name)
		if _, there := in.Lstat(name); there == nil { // also if another process was faster
			return nil
		}
	}
	return err
}

// makeNoted creates a directory under a temporary name, notes it, and renames it. It holds a lock
// on the directory meanwhile: see [removeLeft].
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
			_ = note(getenv, info) // if it fails, a concurrent run quarantines the directory and reports that
		}
		if err = in.Rename(fresh, name); err == nil {
			return nil
		}
	}
	removeFresh(in, fresh, root)
	return err
}

// openFresh opens a directory, and nothing that was put in its place: opening a FIFO would block,
// and a symbolic link would lead elsewhere. With a trailing "." the name is opened as a directory
// or not at all.
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

// freshBytes is the number of random bytes in a temporary directory name.
const freshBytes = 8

// removeLeft removes the directories that processes killed in [makeNoted] left: nobody holds their
// lock. It removes a directory only if it is empty or holds nothing but .gitignore.
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

// isNamed reports whether a name still refers to an open directory: its creator may have renamed it
// before it released the lock.
func isNamed(in *os.Root, name string, dir *os.File) bool {
	named, err := in.Lstat(name)
	if err != nil {
		return false
	}
	opened, err := dir.Stat()
	return err == nil && os.SameFile(opened, named)
}

// removeFresh removes an open directory with this name, and the .gitignore in it.
func removeFresh(in *os.Root, fresh string, root *os.Root) {
	_ = root.Remove(".gitignore")
	_ = in.Remove(fresh)
}

// JustMade reports whether [MakeDir] created a directory within the last minute.
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

// prune removes expired notes.
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

// identity returns a name that identifies a directory on this machine.
func identity(info fs.FileInfo) (string, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprintf("%d-%d", st.Dev, st.Ino), true
}
