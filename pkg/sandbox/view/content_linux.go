package view

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The attributes that overlayfs sets in an upper layer mounted with userxattr:
// Documentation/filesystems/overlayfs.rst. If a command sets such an attribute
// itself, the kernel stores it under another name, or returns EOPNOTSUPP.
const marks = "user.overlay."

// attrsOf reads the attributes. A redirect, or a file whose data is only in
// another layer, cannot occur with userxattr; it is an error, because its
// meaning is unknown.
func attrsOf(f *os.File) (attrs, error) {
	var buf [1024]byte
	n, err := unix.Flistxattr(int(f.Fd()), buf[:])
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), err == nil && n == 0:
		return noAttrs, nil
	case err == nil && string(buf[:n]) == marks+"opaque\x00":
		return opaqueMark, nil
	case err != nil && !errors.Is(err, unix.ERANGE):
		return otherAttrs, &fs.PathError{Op: "flistxattr", Path: f.Name(), Err: err}
	}
	for _, mark := range []string{"redirect", "metacopy"} {
		has, err := xattr(f, marks+mark)
		if err == nil && has != "" {
			err = fmt.Errorf("the upper layer has the mark %s", mark)
		}
		if err != nil {
			return otherAttrs, err
		}
	}
	return otherAttrs, nil
}

// isOpaque reads the attributes of a directory. opaque says that nothing of the
// lower directory is visible in it.
func isOpaque(dir *os.File) (has attrs, opaque bool, err error) {
	if has, err = attrsOf(dir); err != nil || has == noAttrs {
		return has, false, err
	}
	value, err := xattr(dir, marks+"opaque")
	if value != "" && value != "y" {
		err = fmt.Errorf("the upper layer has the mark opaque=%q", value)
	}
	return has, value == "y", err
}

func xattr(f *os.File, name string) (string, error) {
	buf := make([]byte, 64)
	n, err := unix.Fgetxattr(int(f.Fd()), name, buf)
	if errors.Is(err, unix.EACCES) { // reading one needs the permission now, not when the file was opened
		var st unix.Stat_t
		if err = unix.Fstat(int(f.Fd()), &st); err == nil {
			err = unix.Fchmod(int(f.Fd()), st.Mode&0o7777|0o400)
		}
		if err == nil {
			n, err = unix.Fgetxattr(int(f.Fd()), name, buf)
			unix.Fchmod(int(f.Fd()), st.Mode&0o7777)
		}
	}
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.EOPNOTSUPP):
		return "", nil
	case err != nil:
		return "", &fs.PathError{Op: "fgetxattr " + name, Path: f.Name(), Err: err}
	}
	return string(buf[:n]), nil
}

// maxHoles limits the bytes of holes that are read in all files of a view. To
// read a file takes time for its whole length, after the time limit of the
// command, and a command can make a file of any length with one call.
const maxHoles = 16 << 30

// errHoles says why a file is not applied.
var errHoles = errors.New("the files of the view have more than 16 GiB of holes, so this one was not read; make it with a command that has no view")

// hollow reports whether a file must not be read because of its holes.
func (w *walker) hollow(u stamp) bool {
	holes := max(u.Size-u.occupied, 0)
	if holes > *w.holes {
		return true
	}
	*w.holes -= holes
	return false
}

// fill reads the content. The hash of a file that can only differ from the
// lower one is computed later: the change must be listed next.
func (w *walker) fill(c *Change, dir int, name string, l stamp) error {
	switch c.Type {
	case "file":
		c.Size = c.upper.Size
		f, err := forced(dir, name, unix.O_RDONLY, c.upper.Mode)
		if err != nil {
			return err
		}
		if c.attrs, err = attrsOf(f); err != nil {
			f.Close()
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		if c.holes = w.hollow(c.upper); c.holes {
			return f.Close()
		}
		if l.Mode != c.upper.Mode || l.Size != c.Size {
			if !w.hashed && c.upper.names == 1 { // a file with several names is applied by its hash
				return f.Close()
			}
			w.sums.later(len(w.list), f)
			return nil
		}
		defer f.Close()
		c.Sum, err = sum(f)
		return err
	case "symlink":
		to, err := readlink(dir, name)
		c.To = to
		return err
	}
	return nil
}

// equal reports whether the lower file, of the same mode, has the same content.
// An unreadable file does not.
func (w *walker) equal(c *Change, lower *os.File, name string, l stamp) bool {
	switch c.Type {
	case "file":
		if l.Size != c.Size || c.holes {
			return false
		}
		fd, err := unix.Openat(int(lower.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return false
		}
		f := os.NewFile(uintptr(fd), name)
		defer f.Close()
		have, err := sum(f)
		return err == nil && have == c.Sum
	case "symlink":
		to, err := readlink(int(lower.Fd()), name)
		return err == nil && to == c.To
	case "fifo":
		return true
	}
	return false
}

func readlink(dir int, name string) (string, error) {
	buf := make([]byte, 4097)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return "", &fs.PathError{Op: "readlinkat", Path: name, Err: err}
	}
	return string(bytes.Clone(buf[:n])), nil
}

func isDir(s stamp) bool { return s.there && s.Mode&unix.S_IFMT == unix.S_IFDIR }

// whiteout reports whether an entry of the upper layer marks a deletion: a
// character device 0:0.
func whiteout(dir int, name string, u stamp) bool {
	if u.Mode&unix.S_IFMT != unix.S_IFCHR {
		return false
	}
	var st unix.Stat_t
	return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Rdev == 0
}

func typeOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "directory"
	case unix.S_IFLNK:
		return "symlink"
	case unix.S_IFREG:
		return "file"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	}
	return "device"
}

// descriptor returns a path for an open file, for calls that take paths.
func descriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
