package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Files gives access to cgroups and to /proc: the host's ([Host]), or a test's.
// Paths are absolute. An error for a name that does not exist wraps
// [fs.ErrNotExist].
type Files interface {
	ReadFile(path string) ([]byte, error)
	WriteFile(path, text string) error // writes to an existing file, in one write(2)
	Mkdir(path string) error
	Rmdir(path string) error
	Directories(path string) ([]string, error) // names of the subdirectories
	Owner(path string) (uid int, err error)
	Writable(path string) error         // nil if the caller may write to it
	Attribute(path, name string) string // an extended attribute; "" if there is none
	// OpenLocked opens a directory and takes an exclusive flock(2) on it.
	// It does not wait: if another process holds the lock, it returns
	// errLocked.
	OpenLocked(path string) (Directory, error)
	// OpenProcs opens cgroup.procs of a directory for writing.
	OpenProcs(path string) (*os.File, error)
}

// Directory is an open, locked directory.
type Directory interface {
	FD() int
	Close() error // releases the lock
}

// errLocked means that another process holds the directory's lock. It is not an
// error of the leaf: a leaf that is in use is held by its creator.
var errLocked = errors.New("held by another process")

// missing reports whether a cgroup or one of its files is gone. ENODEV is the
// answer to a read or a write of a file that was opened before its cgroup was
// removed: kernfs_fop_write_iter in fs/kernfs/file.c.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV)
}
