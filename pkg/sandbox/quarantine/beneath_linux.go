package quarantine

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/treescan"
)

// tree is one writable tree. Its directory is opened once, at the start: what
// another program puts in its place is another tree.
type tree struct {
	path string // absolute, without links
	fd   int
}

func openTree(path string) (*tree, error) {
	fd, err := openat(unix.AT_FDCWD, path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &tree{path, fd}, nil
}

// rel is the part of a path below the tree.
func (t *tree) rel(path string) string {
	if path == t.path {
		return "."
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, t.path), "/")
}

// longest is how much of a path one call is given: less than PATH_MAX of
// limits.h, which bounds a call and not a tree.
const longest = 4000

// open opens what lies at a path of the tree, and nothing that a link leads to:
// openat2(2).
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

// parent opens the directory that a path is in.
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
		if err != unix.EINTR && err != unix.EAGAIN { // EAGAIN: something was renamed meanwhile
			return fd, err
		}
	}
}

// listing is a directory that was listed, and is open still.
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

// file is a regular file that is read. An [os.File] would ask the kernel whether
// it can be polled.
type file struct {
	fd   int
	size int64
	mode uint32
}

// file opens a regular file to read. A FIFO or a device does not hold it up.
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

// Read is [io.Reader].
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

// text reads up to a bound.
func (f *file) text(limit int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(max(f.size, 0), limit)+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(f, limit))
	return b.Bytes(), err
}

// errKind is the error of what is read and is no regular file.
var errKind = errors.New("not a regular file")

// link reads a symbolic link.
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

// where is the path of an open file: proc(5).
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
