package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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
// matches everything. It notes that no confined command created it: see [JustMade]. It leaves an
// existing directory alone. There is never another name than this one, so that a process that is
// killed here leaves nothing which the next one would not use.
func MakeDir(getenv func(string) string, in *os.Root, name string) error {
	for range 50 { // a concurrent run may remove the directory while it is empty
		if _, err := in.Lstat(name); err == nil {
			return nil
		}
		err := makeNoted(getenv, in, name)
		switch {
		case err == nil, errors.Is(err, fs.ErrExist): // another process was faster
			return nil
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrNotExist}
}

// makeNoted creates a directory and notes it in one critical section. If the note cannot be written,
// a concurrent run quarantines the directory and reports that.
func makeNoted(getenv func(string) string, in *os.Root, name string) error {
	notes, fault := Make(getenv, noteName)
	if fault == nil {
		if held, err := lockNotes(notes, syscall.LOCK_EX); err == nil {
			defer held.Close()
		}
	}
	if err := in.Mkdir(name, 0o700); err != nil {
		return err
	}
	root, err := in.OpenRoot(name + "/.") // a directory or nothing: opening a FIFO would block, and a link would lead elsewhere
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Stat("."); fault == nil && err == nil {
		_ = note(notes, info)
	}
	if err := Give(in, root, "."); err != nil {
		return err
	}
	if err := root.WriteFile(".gitignore", []byte("*\n"), 0o600); err != nil {
		return err
	}
	return Give(in, root, ".gitignore")
}

// Give gives what root has just made in a directory of somebody else to that user, who could not
// use it otherwise: name in made, which lies in the directory in. For any other caller, and for
// what is not root's, it does nothing.
func Give(in, made *os.Root, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	above, err := in.Stat(".")
	if err != nil {
		return err
	}
	owner, ok := above.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	f, err := made.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	its, ok := info.Sys().(*syscall.Stat_t)
	if !ok || its.Uid != 0 || !info.IsDir() && its.Nlink > 1 {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
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
	if held, err := lockNotes(dir, syscall.LOCK_SH); err == nil { // its note may be about to be written
		defer held.Close()
	}
	noted, err := os.Lstat(path.Join(dir, name))
	return err == nil && time.Since(noted.ModTime()).Abs() < noteLife
}

// lockNotes locks the folder of the notes until the file is closed.
func lockNotes(dir string, how int) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// note notes a directory in the folder of the notes, and removes expired notes.
func note(notes string, info fs.FileInfo) error {
	prune(notes)
	name, ok := identity(info)
	if !ok {
		return fs.ErrInvalid
	}
	return os.WriteFile(path.Join(notes, name), nil, 0o600)
}

// prune removes expired notes.
func prune(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()).Abs() >= noteLife {
			_ = os.Remove(path.Join(dir, e.Name()))
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
