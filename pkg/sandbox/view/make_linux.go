package view

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// make creates a file under a temporary name.
func (a *applier) make(at int, temp string, c Change) error {
	if c.Link != "" && a.linked(at, temp, c) {
		return nil
	}
	switch c.Type {
	case "symlink":
		return wrapped("symlinkat", unix.Symlinkat(c.To, at, temp))
	case "fifo":
		return makeFIFO(at, temp, c.Mode)
	}
	upper, err := openDir(unix.AT_FDCWD, a.view.Upper(c.Root))
	if err != nil {
		return err
	}
	defer upper.Close()
	from, err := a.source(upper, c.Rel)
	if err != nil {
		return err
	}
	defer from.Close()
	fd, err := unix.Openat(at, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return wrapped("openat", err)
	}
	to := os.NewFile(uintptr(fd), temp)
	defer to.Close()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(from.Fd()), &st); err != nil {
		return wrapped("fstat", err)
	}
	if os.Geteuid() == 0 && (st.Uid != 0 || st.Gid != uint32(os.Getegid())) { // the kernel has refused in the view any owner that the command could not set
		if err := unix.Fchown(fd, int(st.Uid), int(st.Gid)); err != nil {
			return wrapped("fchown", err)
		}
	}
	times := []unix.Timespec{st.Atim, st.Mtim}
	return errors.Join(wrapped("fchmod", unix.Fchmod(fd, c.Mode&0o777)), wrapped("utimensat", unix.UtimesNanoAt(unix.AT_FDCWD, descriptor(to), times, 0)))
}

func wrapped(call string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", call, err)
	}
	return nil
}

// source opens a file of the upper layer, regardless of its own and its
// directories' permissions.
func (a *applier) source(upper *os.File, rel string) (*os.File, error) {
	dir := upper
	parts := strings.Split(rel, "/")
	for i, name := range parts {
		var st unix.Stat_t
		if err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, wrapped("fstatat", err)
		}
		flags := unix.O_RDONLY
		if i < len(parts)-1 {
			flags |= unix.O_DIRECTORY
		}
		next, err := forced(int(dir.Fd()), name, flags, st.Mode)
		if err != nil {
			return nil, err
		}
		if dir = next; i < len(parts)-1 {
			defer next.Close()
			defer searchable(next, st.Mode)()
		}
	}
	return dir, nil
}

// linked creates another name for a file that is already in place. It refuses a
// file that is not the view's version, as when only one name is applied.
func (a *applier) linked(at int, temp string, c Change) bool {
	root := a.view.Roots[c.Root].Path
	rel, err := filepath.Rel(root, c.Link)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return false
	}
	first := Change{Root: c.Root, Rel: rel, Path: c.Link}
	in := func(list []Left) bool {
		return slices.ContainsFunc(list, func(l Left) bool { return l.Path == c.Link })
	}
	if in(a.result.Left) || a.closed(c.Link) {
		return false
	}
	dir, name, err := a.parent(first)
	if err != nil {
		return false
	}
	defer dir.Close()
	st, err := stampOf(int(dir.Fd()), name)
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size != c.Size || a.view.changedSince(c.Link, st) {
		return false
	}
	if !hasContent(dir, name, c) || unix.Linkat(int(dir.Fd()), name, at, temp, 0) != nil {
		return false
	}
	a.note(first)
	return true
}

// hasContent reports whether a file has the permissions and the content of a
// change.
func hasContent(dir *os.File, name string, c Change) bool {
	f, err := beneath(dir, name, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return false
	}
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || st.Mode&0o777 != c.Mode&0o777 || st.Size != c.Size {
		return false
	}
	have, err := sum(f)
	return err == nil && have == c.Sum
}

// makeFIFO creates a FIFO. It sets the mode on the opened file, not by name,
// because a command may put a symbolic link there meanwhile.
func makeFIFO(at int, name string, mode uint32) error {
	if err := unix.Mknodat(at, name, unix.S_IFIFO|0o600, 0); err != nil {
		return wrapped("mknodat", err)
	}
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return wrapped("openat", err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return wrapped("fstat", err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return errors.New("a FIFO was replaced by something else")
	}
	return wrapped("fchmod", unix.Fchmod(fd, mode&0o777))
}
