// Package statedir finds the folder in which ethos keeps what belongs to the user and to no
// workspace: trust decisions, and knowledge from earlier runs.
//
//	dir, err := statedir.Make(os.Getenv, "trust") // ~/.local/state/ethos/trust
//	dir, err := statedir.Open(os.Getenv, "trust") // the same; fs.ErrNotExist when nothing was kept yet
//
// The folder is ${XDG_STATE_HOME:-$HOME/.local/state}/ethos, as in the XDG Base Directory
// Specification 0.8: a value that is empty or not absolute counts as unset. Package sandbox hides
// the folder from every confined command.
//
// Its content decides who may widen a boundary. A folder that is not a directory, belongs to
// another user, or is writable by others is therefore an error, and never treated as empty.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// ErrUnusable is wrapped by every error about the folder itself.
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

// Dir returns the path of the folder. It reads only the environment: the folder may not exist.
func Dir(getenv func(string) string) (string, error) {
	base, below, ok := place(getenv)
	if !ok {
		return "", fmt.Errorf("%w: neither XDG_STATE_HOME nor HOME is an absolute path", ErrUnusable)
	}
	return path.Join(base, below), nil
}

// belowHome is the folder's name below a home directory.
const belowHome = ".local/state/" + Name

// place returns the directory that the environment names, and the folder's name below it.
func place(getenv func(string) string) (base, below string, ok bool) {
	if dir := getenv("XDG_STATE_HOME"); path.IsAbs(dir) {
		return dir, Name, true
	}
	home := getenv("HOME")
	return home, belowHome, path.IsAbs(home)
}

// Of returns the folder for a home directory if XDG_STATE_HOME is not set.
func Of(home string) string { return path.Join(home, belowHome) }

// Runtime returns the path of ethos's folder in the XDG runtime directory, which holds the sockets
// of sessions. ok is false if the environment names no runtime directory. It reads only the
// environment.
func Runtime(getenv func(string) string) (dir string, ok bool) {
	base := getenv(runtimeVariable)
	return path.Join(base, Name), path.IsAbs(base)
}

// runtimeVariable names the runtime directory.
const runtimeVariable = "XDG_RUNTIME_DIR"

// sessions is the folder of the sockets if there is no runtime directory.
const sessions = "sessions"

// Sockets lists the folders that may hold sockets of sessions, the one for new sockets first, and
// creates that one if create is set. It is the folder of [Runtime] if the runtime directory belongs
// to the caller and nobody else can enter it, else "sessions" in the state folder. The other folder
// is listed too, because a session may have been started there.
func Sockets(getenv func(string) string, create bool) ([]string, error) {
	var list []string
	if dir, ok := Runtime(getenv); ok && private(path.Dir(dir)) {
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

// private reports whether a directory is not a symbolic link, belongs to the caller, and is closed
// to everybody else.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.Mode().Perm() == privateMode && Check(dir) == nil
}

// privateMode is the mode of a directory that is closed to everybody else.
const privateMode = 0o700

// Open returns the folder, or the subfolder that names lead to. It checks that each directory on
// the way belongs to the caller and that nobody else can write to it. The error wraps
// [fs.ErrNotExist] if one of them does not exist.
func Open(getenv func(string) string, names ...string) (string, error) {
	return walk(getenv, names, Check)
}

// Make is like [Open], but creates missing directories with mode 0700.
func Make(getenv func(string) string, names ...string) (string, error) {
	dir, err := Dir(getenv)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(path.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return walk(getenv, names, mkdir)
}

// mkdir creates a directory with mode 0700 if it does not exist.
func mkdir(dir string) error {
	if private(dir) {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if err := Check(dir); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// walk calls visit for the folder and for each subfolder on the way.
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
		dir = path.Join(dir, names[i])
	}
}

// Check returns an error if a directory cannot be trusted: it is a symbolic link or not a
// directory, belongs to another user, or is writable by others.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%w: %s: nothing is known about it", ErrUnusable, dir)
	}
	switch defectOf(st) {
	case noDirectory:
		return fmt.Errorf("%w: %s is not a directory: move it away", ErrUnusable, dir)
	case foreign:
		return fmt.Errorf("%w: %s does not belong to you: set XDG_STATE_HOME to a directory that does", ErrUnusable, dir)
	case writable:
		return fmt.Errorf("%w: others can write to %s: look through it, then chmod 700 it", ErrUnusable, dir)
	}
	return nil
}

// defect is why a directory cannot be trusted; 0 is none.
type defect int

const (
	noDirectory defect = iota + 1
	foreign            // belongs to another user
	writable           // others can write to it
)

func defectOf(st *syscall.Stat_t) defect {
	switch {
	case st.Mode&syscall.S_IFMT != syscall.S_IFDIR:
		return noDirectory
	case int(st.Uid) != syscall.Geteuid():
		return foreign
	case st.Mode&0o022 != 0:
		return writable
	}
	return 0
}
