// Package statedir finds the folder in which ethos keeps what belongs to the
// person and to no work space: what was trusted, and what earlier runs have
// seen.
//
//	dir, err := statedir.Make(os.Getenv, "trust") // ~/.local/state/ethos/trust
//	dir, err := statedir.Open(os.Getenv, "trust") // the same; fs.ErrNotExist when nothing was kept yet
//
// The folder is ${XDG_STATE_HOME:-$HOME/.local/state}/ethos, as the XDG Base
// Directory Specification 0.8 has it: a value that is empty or not absolute
// counts as not set. Package sandbox hides it from every confined command.
//
// What is read there decides who may widen a boundary. A folder that is not a
// directory, that belongs to somebody else, or that others can write to is
// therefore an error, never an empty folder.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrUnusable is wrapped by every error that is about the folder itself.
var ErrUnusable = errors.New("the state folder of ethos cannot be used")

// Hint is the way out of an error that is about the folder itself, or "" for any
// other error.
func Hint(err error) string {
	if !errors.Is(err, ErrUnusable) {
		return ""
	}
	return "set XDG_STATE_HOME to a directory that you, and nobody else, can write to, or HOME to your home directory"
}

// Name is the folder's name below XDG_STATE_HOME.
const Name = "ethos"

// Dir is the folder by name. It looks at the environment alone: the folder may
// not exist.
func Dir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, Name), nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return Of(home), nil
	}
	return "", fmt.Errorf("%w: neither XDG_STATE_HOME nor HOME is an absolute path", ErrUnusable)
}

// Of is the folder of a home directory where XDG_STATE_HOME does not say
// otherwise.
func Of(home string) string { return filepath.Join(home, ".local/state", Name) }

// Runtime is the folder of ethos in the XDG runtime directory, by name: where
// the sockets of sessions are. ok is false where the environment names none. It
// looks at the environment alone.
func Runtime(getenv func(string) string) (dir string, ok bool) {
	base := getenv("XDG_RUNTIME_DIR")
	return filepath.Join(base, Name), filepath.IsAbs(base)
}

// sessions is the folder of the sockets where there is no runtime directory.
const sessions = "sessions"

// Sockets lists the folders in which sockets of sessions can be, the one for new
// ones first, and makes that when it is asked to. It is the one of [Runtime], when
// the runtime directory is the caller's and nobody else enters it, else "sessions"
// in the state folder; a session may have been started in the other.
func Sockets(getenv func(string) string, create bool) ([]string, error) {
	var list []string
	if dir, ok := Runtime(getenv); ok && private(filepath.Dir(dir)) {
		if create {
			if err := mkdir(dir); err != nil {
				return nil, err
			}
			create = false
		}
		if private(dir) {
			list = append(list, dir)
		}
	}
	open := Open
	if create {
		open = Make
	}
	switch dir, err := open(getenv, sessions); {
	case err == nil:
		return append(list, dir), nil
	case len(list) > 0 || errors.Is(err, fs.ErrNotExist):
		return list, nil
	default:
		return nil, err
	}
}

// private reports whether a directory is no link, the caller's, and closed to
// everybody else.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.Mode().Perm() == 0o700 && Check(dir) == nil
}

// Open returns the folder, or the one that names lead to below it, once each of
// them is known to be a directory of the caller's that nobody else can write
// to. The error wraps [fs.ErrNotExist] when one of them does not exist.
func Open(getenv func(string) string, names ...string) (string, error) {
	return walk(getenv, names, Check)
}

// Make is [Open] of a folder that it creates where it does not exist, with mode
// 0700.
func Make(getenv func(string) string, names ...string) (string, error) {
	dir, err := Dir(getenv)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return walk(getenv, names, mkdir)
}

// mkdir makes a folder with mode 0700 where there is none.
func mkdir(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if err := Check(dir); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// walk calls visit for the folder and for each one below it on the way.
func walk(getenv func(string) string, names []string, visit func(string) error) (string, error) {
	dir, err := Dir(getenv)
	if err != nil {
		return "", err
	}
	for i := 0; ; i++ {
		if err := visit(dir); err != nil {
			return "", err
		}
		if i == len(names) {
			return dir, nil
		}
		dir = filepath.Join(dir, names[i])
	}
}

// Check reports why a directory cannot be relied on: it is a link or no
// directory, belongs to somebody else, or can be written to by others.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%w: %s is not a directory: move it away", ErrUnusable, dir)
	case !ok || int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: %s does not belong to you: set XDG_STATE_HOME to a directory that does", ErrUnusable, dir)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%w: others can write to %s: look through it, then chmod 700 it", ErrUnusable, dir)
	}
	return nil
}
