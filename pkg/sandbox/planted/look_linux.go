package planted

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Ground is where a command may have left something. Paths are absolute and have no symbolic links.
type Ground struct {
	Roots    []string               // directories of the host that are writable
	Writable func(path string) bool // what lies there can be changed by the command
	Walked   []string               // directories in them that were looked through at the start
	PassedBy func(name string) bool // directories of these names are not
	Known    []string               // git directories that were there at the start and are not guarded
}

// Finding is one thing that was left, and what became of it.
type Finding struct {
	Path  string // the file
	What  string // what in it would have run
	Aside string // where it is kept as it was
	Err   error  // why it is still in force
}

// Look is one search.
type Look struct {
	Ground
	since  unix.Timespec
	before map[string]string    // texts at the start, of what an unfinished rebase is made of
	known  map[string][2]uint64 // what Known were at the start: the inodes of the directory and of its hooks
	links  func() map[string][]string
	seen   map[string]bool // git directories
	budget int             // directories that may still be read
	found  []Finding
	roots  map[string]*os.Root
	were   map[string]fs.FileInfo // the writable roots at the start: what is changed lies in no other
}

// maxDirectories bounds how many directories the command may have made before the search ends; maxRepositories how many git directories are looked at.
const (
	maxDirectories  = 20_000
	maxRepositories = 2_000
)

// Begin remembers when the command started, and what it is not to blame for.
func Begin(g Ground) *Look {
	l := &Look{Ground: g, before: map[string]string{}, known: map[string][2]uint64{}, seen: map[string]bool{}, budget: maxDirectories, roots: map[string]*os.Root{}, were: map[string]fs.FileInfo{}}
	// The clock that file systems take their times from: current_time in fs/inode.c.
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &l.since) != nil {
		l.since = unix.Timespec{} // everything counts as new
	}
	for _, root := range g.Roots {
		if info, err := os.Lstat(root); err == nil {
			l.were[root] = info
		}
		l.remember(root)
	}
	for _, dir := range g.Known {
		l.known[dir] = inodes(dir)
	}
	l.links = sync.OnceValue(l.indexed)
	return l
}

// largeIndex takes longer to read than a process to start.
const largeIndex = 1 << 20

// Prefetch reads a large index while the command runs, so that nobody waits for it at the end.
func (l *Look) Prefetch() {
	for _, root := range l.Roots {
		var st unix.Stat_t
		if unix.Stat(filepath.Join(root, ".git/index"), &st) == nil && st.Size > largeIndex {
			go l.links()
			return
		}
	}
}

// Hold takes out of force what was left. Everything that the command started must be dead.
func (l *Look) Hold() []Finding {
	defer l.close()
	for _, root := range l.Roots {
		l.repository(root)
		if isGitDir(root) {
			l.gitDir(root, "")
		}
	}
	l.walk()
	for dir := range l.known {
		l.gitDir(dir, filepath.Dir(dir))
	}
	return l.found
}

func (l *Look) close() {
	for _, r := range l.roots {
		r.Close()
	}
}

// changed reports whether the file, or what it leads to, came into being or changed since the start.
func (l *Look) changed(path string) bool {
	for _, look := range []func(string, *unix.Stat_t) error{unix.Lstat, unix.Stat} {
		var st unix.Stat_t
		if look(path, &st) == nil && l.after(st.Ctim) {
			return true
		}
	}
	return false
}

// inodes tell whether a git directory and its hooks are still those that they were.
func inodes(dir string) (list [2]uint64) {
	for i, path := range []string{dir, filepath.Join(dir, "hooks")} {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			list[i] = st.Ino
		}
	}
	return list
}

// suspect reports whether a file of a git directory is to be looked at: all are, in one that was not there at the start.
func (l *Look) suspect(dir, path string) bool {
	was, known := l.known[dir]
	return !known || was != inodes(dir) || l.changed(path)
}

// after compares in seconds where the file system keeps no more.
func (l *Look) after(t unix.Timespec) bool {
	if t.Sec != l.since.Sec || t.Nsec == 0 {
		return t.Sec >= l.since.Sec
	}
	return t.Nsec >= l.since.Nsec
}

// in opens the writable root that path lies in. Names in it are looked up one by one and never lead out: os.Root.
func (l *Look) in(path string) (*os.Root, string, error) {
	best := ""
	for _, root := range l.Roots {
		if within(path, root) && len(root) > len(best) {
			best = root
		}
	}
	if best == "" || path == best {
		return nil, "", &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	if l.roots[best] == nil {
		root, err := l.open(best)
		if err != nil {
			return nil, "", err
		}
		l.roots[best] = root
	}
	return l.roots[best], strings.TrimPrefix(path[len(best):], "/"), nil
}

// open opens a writable root. One that another program has put something else in the place of is none.
func (l *Look) open(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if was := l.were[path]; err == nil && (was == nil || !os.SameFile(was, info)) {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ESTALE}
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir) && path[len(dir)] == '/'
}

// resolve follows the links of a path that the command may have written to; ok says that it could have.
func (l *Look) resolve(path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	return real, err == nil && l.Writable(real)
}

// read reads a file that the command may have written, and that is no larger than the bound; what is neither is no text of git's.
func (l *Look) read(path string) ([]byte, error) {
	real, ok := l.resolve(path)
	if !ok {
		return nil, fs.ErrNotExist
	}
	root, name, err := l.in(real)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

// parent resolves the directory of a path, so that the last name can be worked on as it is.
func (l *Look) parent(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// note adds a finding once.
func (l *Look) note(f Finding) {
	if !slices.ContainsFunc(l.found, func(other Finding) bool { return other.Path == f.Path && other.What == f.What }) {
		l.found = append(l.found, f)
	}
}
