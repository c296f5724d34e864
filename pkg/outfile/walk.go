package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/printable"
)

// LinkError is the error for a path that a symbolic link leads elsewhere.
type LinkError struct {
	Link   string
	Target string // as in the link
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a symbolic link to %s, and a command may have made it", e.Link, e.Target)
}

// noDirectory says that the directory of a file does not exist.
type noDirectory struct {
	dir string
	syscall.Errno
}

func (e *noDirectory) Unwrap() error { return e.Errno }

// Hint returns the remedy if err is a [*LinkError], or says that a file's directory does not exist;
// else "".
func Hint(err error) string {
	var link *LinkError
	var none *noDirectory
	switch {
	case errors.As(err, &link):
		return "name the file by a path without that link"
	case errors.As(err, &none) && none.Errno == unix.ENOENT:
		return "make the directory first: mkdir -p " + printable.Word(none.dir)
	case errors.As(err, &none):
		return printable.Line(none.dir) + " is not a directory; name the file in one"
	}
	return ""
}

// place is a name in an open directory.
type place struct {
	dir  int    // descriptor of the directory
	path string // of the directory, without links
	name string
}

func (p *place) String() string { return filepath.Join(p.path, p.name) }

func (p *place) close() { unix.Close(p.dir) }

// maxLinks is the number of links in a path that the kernel follows: path_resolution(7).
const maxLinks = 40

// locate opens the directory that a path's last component is in. mkdir says that
// missing directories are made.
func locate(path string, mkdir bool) (*place, error) {
	fault := func(err error) (*place, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	w := walk{todo: strings.Split(path, "/"), mkdir: mkdir}
	start := "."
	if w.todo[0] == "" {
		start = "/"
	}
	if err := w.start(start); err != nil {
		return fault(err)
	}
	for len(w.todo) > 1 {
		name := w.todo[0]
		w.todo = w.todo[1:]
		if err := w.enter(name); err != nil {
			unix.Close(w.at.dir)
			var link *LinkError
			if errors.As(err, &link) {
				return nil, err
			}
			var errno syscall.Errno
			if errors.As(err, &errno) && (errno == unix.ENOENT || errno == unix.ENOTDIR) {
				err = &noDirectory{w.missing(name, errno), errno}
			}
			return fault(err)
		}
	}
	if w.at.name = w.todo[0]; w.at.name == "" || w.at.name == "." || w.at.name == ".." {
		unix.Close(w.at.dir)
		return fault(unix.EISDIR)
	}
	return &w.at, nil
}

// missing returns the directory that a path needs, or the component that is none.
func (w *walk) missing(name string, errno syscall.Errno) string {
	at := filepath.Join(w.at.path, name)
	if errno == unix.ENOTDIR {
		return at
	}
	return filepath.Join(at, filepath.Join(w.todo[:len(w.todo)-1]...))
}

// walk is a path on the way to its last component.
type walk struct {
	at    place
	todo  []string // components
	links int
	mkdir bool // make the directories that do not exist
}

// start begins at a directory.
func (w *walk) start(dir string) error {
	fd, err := unix.Open(dir, pathOnly|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	path := dir
	if dir == "." {
		if path, err = unix.Getwd(); err != nil {
			unix.Close(fd)
			return err
		}
	}
	if w.at.path != "" {
		unix.Close(w.at.dir)
	}
	w.at.dir, w.at.path = fd, path
	return nil
}

// enter enters a directory, or follows a link.
func (w *walk) enter(name string) error {
	if name == "" || name == "." {
		return nil
	}
	target, linked, err := w.at.link(name)
	if w.mkdir && errors.Is(err, unix.ENOENT) {
		err = unix.Mkdirat(w.at.dir, name, 0o777) // subject to the umask
	}
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return err
	}
	if linked {
		if w.links++; w.links > maxLinks {
			return unix.ELOOP
		}
		if inWorkSpace(w.at.path) {
			return &LinkError{filepath.Join(w.at.path, name), target}
		}
		w.todo = slices.Concat(strings.Split(target, "/"), w.todo)
		if filepath.IsAbs(target) {
			return w.start("/")
		}
		return nil
	}
	fd, err := unix.Openat(w.at.dir, name, pathOnly|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	unix.Close(w.at.dir)
	w.at.dir, w.at.path = fd, filepath.Join(w.at.path, name)
	return nil
}

// link returns the target of a name that is a symbolic link.
func (p *place) link(name string) (target string, linked bool, err error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(p.dir, name, buf)
	if errors.Is(err, unix.EINVAL) { // it is none
		return "", false, nil
	}
	return string(buf[:max(n, 0)]), err == nil, err
}

// marks are the names that a work space has in its top directory.
var marks = []string{".git", ".coding-ethos", "coding_ethos.yml", "repo_config.yaml"}

// inWorkSpace reports whether a directory is the current one, lies below it, or
// lies in a work space.
func inWorkSpace(dir string) bool {
	if current, err := unix.Getwd(); err != nil || current != "/" && (dir == current || strings.HasPrefix(dir, current+"/")) {
		return true
	}
	for ; ; dir = filepath.Dir(dir) {
		for _, mark := range marks {
			var st unix.Stat_t
			if unix.Lstat(filepath.Join(dir, mark), &st) == nil {
				return true
			}
		}
		if dir == "/" {
			return false
		}
	}
}

// special reports whether the links in a directory are those that the system
// makes: /dev/stdout, /proc/self/fd/3. Other directories below /dev hold files of
// users.
func special(dir string) bool {
	return dir == "/dev" || dir == "/proc" || strings.HasPrefix(dir, "/proc/")
}
