package quarantine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// tree is one writable tree. Its directory is opened once, at the start. If
// another program puts a directory in its place, that is a different tree.
type tree struct {
	path string // absolute, without symbolic links
	fd   int
}

func openTree(path string) (*tree, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &tree{path, fd}, nil
}

// rel returns a path relative to the tree.
func (t *tree) rel(path string) string {
	if path == t.path {
		return "."
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, t.path), "/")
}

// longest limits the part of a path, in bytes, that is passed to one system
// call. It is less than PATH_MAX of limits.h, which limits a call but not the
// depth of a tree.
const longest = 4000

// open opens a path in the tree without following symbolic links: openat2(2).
func (t *tree) open(path string, flags int) (int, error) {
	rel := t.rel(path)
	at := t.fd
	for len(rel) > longest {
		cut := strings.LastIndexByte(rel[:longest], '/')
		if cut <= 0 {
			break
		}
		next, err := openBeneath(at, rel[:cut], unix.O_PATH|unix.O_DIRECTORY)
		if at != t.fd {
			unix.Close(at)
		}
		if err != nil {
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		at, rel = next, rel[cut+1:]
	}
	fd, err := openBeneath(at, rel, flags)
	if at != t.fd {
		unix.Close(at)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// parent opens the directory that contains a path.
func (t *tree) parent(path string) (fd int, name string, err error) {
	dir, name := filepath.Split(path)
	fd, err = t.open(strings.TrimRight(dir, "/"), unix.O_PATH|unix.O_DIRECTORY)
	return fd, name, err
}

func openat(at int, name string, flags int) (fd int, err error) {
	for {
		fd, err = unix.Openat(at, name, flags|unix.O_CLOEXEC, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func openBeneath(at int, name string, flags int) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err = unix.Openat2(at, name, &how)
		if err != unix.EINTR && err != unix.EAGAIN { // EAGAIN: something was renamed concurrently
			return fd, err
		}
	}
}

// listing is the contents of a directory that is still open.
type listing struct {
	path    string
	fd      int
	entries []treescan.Entry
}

// list opens and lists a directory.
func (t *tree) list(path string) (listing, error) {
	l := listing{path: path, fd: -1}
	fd, err := t.open(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return l, err
	}
	l.fd = fd
	if l.entries, err = treescan.ReadDir(fd); err != nil {
		l.close()
		return l, &fs.PathError{Op: "readdir", Path: path, Err: err}
	}
	return l, nil
}

func (l listing) close() { unix.Close(l.fd) }

// entries lists a directory.
func (t *tree) entries(path string) ([]treescan.Entry, error) {
	l, err := t.list(path)
	if err != nil {
		return nil, err
	}
	l.close()
	return l.entries, nil
}

// file is a regular file being read. [os.File] is not used, because it would
// ask the kernel whether the file can be polled.
type file struct {
	fd   int
	size int64
	mode uint32
}

// file opens a regular file for reading. It does not block on a FIFO or a
// device.
func (t *tree) file(path string) (*file, error) {
	fd, err := t.open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		err = &fs.PathError{Op: "stat", Path: path, Err: err}
	} else if st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = &fs.PathError{Op: "read", Path: path, Err: errKind}
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &file{fd, st.Size, st.Mode}, nil
}

// Read implements [io.Reader].
func (f *file) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		n, err := unix.Read(f.fd, b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, &fs.PathError{Op: "read", Path: "a file", Err: err}
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

func (f *file) close() { unix.Close(f.fd) }

// version identifies one state of the file without reading it. Nobody can set
// the change time, and each write changes it.
func (f *file) version() string {
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprint("unread: ", st.Dev, st.Ino, st.Size, st.Ctim)
}

// text reads the file up to a limit in bytes.
func (f *file) text(limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(max(f.size, 0), limit)+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(f, limit))
	return b.Bytes(), err
}

// errKind is the error for reading something that is not a regular file.
var errKind = errors.New("not a regular file")

// link returns the target of a symbolic link.
func (t *tree) link(path string) (string, error) {
	fd, err := t.open(path, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	b := make([]byte, 4097)
	n, err := unix.Readlinkat(fd, "", b)
	if err != nil {
		return "", err
	}
	return string(b[:n]), nil
}

// where returns the path of an open file: proc(5).
func where(fd int) (string, error) {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err == nil && !filepath.IsAbs(path) {
		err = fs.ErrNotExist
	}
	return path, err
}

// within reports whether a path is a directory or lies below it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}
