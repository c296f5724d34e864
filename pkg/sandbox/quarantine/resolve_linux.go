package quarantine

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// target is what a path in one of git's files leads to.
type target struct {
	path    string // absolute, without symbolic links
	missing bool   // it does not exist
	dir     bool
}

var errLeaves = errors.New("a path that cannot be followed")

// resolve resolves a path relative to base as git does, with the kernel's
// rules: symbolic links first. For a path that does not exist, it resolves the
// existing parent directory.
func (t *tree) resolve(base, name string) (target, error) {
	if name == "" || len(name) > longest || strings.IndexByte(name, 0) >= 0 {
		return target{}, errLeaves
	}
	at := unix.AT_FDCWD
	if !filepath.IsAbs(name) {
		fd, err := t.open(base, unix.O_PATH|unix.O_DIRECTORY)
		if err != nil {
			return target{}, err
		}
		defer unix.Close(fd)
		at = fd
	}
	var rest []string
	for {
		fd, err := openat(at, cmp.Or(name, "."), unix.O_PATH)
		if err == nil {
			defer unix.Close(fd)
			return found(fd, rest)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return target{}, err
		}
		name = strings.TrimRight(name, "/")
		up, last := filepath.Split(name)
		if last == ".." {
			return target{}, errLeaves
		}
		if isLink(at, name) { // a dangling link
			return target{}, errLeaves
		}
		if last != "." && last != "" {
			rest = append([]string{last}, rest...)
		}
		if name == "" || up == name {
			return target{}, errLeaves
		}
		name = up
	}
}

func isLink(at int, name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK
}

// found returns the target for an open file, or for missing names below an open
// directory.
func found(fd int, rest []string) (target, error) {
	path, err := where(fd)
	if err != nil {
		return target{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return target{}, err
	}
	isDir := st.Mode&unix.S_IFMT == unix.S_IFDIR
	if len(rest) > 0 {
		return target{path: filepath.Join(append([]string{path}, rest...)...), missing: true}, nil
	}
	return target{path: path, dir: isDir}, nil
}
