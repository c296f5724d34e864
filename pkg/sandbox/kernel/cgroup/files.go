package cgroup

import (
	"errors"
	"io/fs"
)

// Files is where cgroups and what /proc says of them are: the host's ([Host]), or a test's. Paths are absolute.
type Files interface {
	ReadFile(path string) ([]byte, error)
	WriteFile(path, text string) error // to a file that is there, in one write(2)
	Mkdir(path string) error
	Rmdir(path string) error
	Directories(path string) ([]string, error) // names of the directories in it
	Owner(path string) (uid int, err error)
	Writable(path string) error         // nil when the caller may write to it
	Attribute(path, name string) string // an extended attribute, "" when there is none
	// OpenLocked opens a directory and holds an exclusive flock(2) on it. It does not wait for another holder: held
	// by another is errLocked.
	OpenLocked(path string) (Directory, error)
}

// Directory is an open, locked directory.
type Directory interface {
	FD() int
	Close() error // releases the lock
}

// errLocked is a directory that a living process holds.
var errLocked = errors.New("held by another process")

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
