package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ethos/pkg/ceiling"
	"ethos/pkg/sandbox/treescan"
)

// Files is the file system access that planning needs. [HostFiles] is the real one; a test
// provides its own.
type Files interface {
	Lstat(path string) (fs.FileInfo, error)
	Readlink(path string) (string, error)
	ReadFile(path string) ([]byte, error) // at most 1 MiB, the limit of git for a .git file; a larger one is an error
	// ReadResolved is ReadFile for a regular file whose path contains no symbolic link. If
	// a component has become one since the path was resolved, it returns an error, because
	// whoever replaced it may not be allowed to read the target.
	ReadResolved(path string) ([]byte, error)
	Entries(path string) ([]fs.DirEntry, error)
	Writable(dir string) bool // whether the caller can create files in the directory
	Scan(root string, o treescan.Options) (*treescan.Tree, error)
	// Ceiling returns the upper bound for every run on this machine; nil if there is none.
	Ceiling() (*ceiling.Ceiling, error)
}

// openFiles returns how many descriptors a process may have open, if the machine is known:
// RLIMIT_NOFILE, getrlimit(2).
func openFiles(files Files) uint64 {
	if machine, ok := files.(interface{ OpenFiles() uint64 }); ok {
		return machine.OpenFiles()
	}
	return math.MaxInt32
}

// OpenFiles returns the limit of this process.
func (HostFiles) OpenFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return math.MaxInt32
	}
	return limit.Cur
}

// HostFiles is the file system of the machine.
type HostFiles struct{}

// Ceiling returns the ceiling in /etc/ethos.
func (HostFiles) Ceiling() (*ceiling.Ceiling, error) { return ceiling.InForce() }

func (HostFiles) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

func (HostFiles) Readlink(path string) (string, error) { return os.Readlink(path) }

func (HostFiles) ReadFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return readAll(f)
}

func (HostFiles) ReadResolved(path string) ([]byte, error) {
	f, err := treescan.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return readAll(f)
}

// readAll reads a file and closes it.
func readAll(f *os.File) ([]byte, error) {
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: errLargeFile}
	}
	return text, err
}

// maxFile is the most that is read of one file, in bytes: setup.c, read_gitfile_gently.
const maxFile = 1 << 20

var errLargeFile = errors.New("larger than 1 MiB")

func (HostFiles) Entries(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Writable asks the kernel with access(2).
func (HostFiles) Writable(dir string) bool { return syscall.Access(dir, 2) == nil }

// resolvedPath is what a path resolves to.
type resolvedPath struct {
	path   string // without symbolic links, as far as it exists
	exists bool
	dir    bool
	mode   fs.FileMode
	owner  uint32
	// links are the symbolic links that were followed, each as a path without links.
	links []string
}

// resolver follows symbolic links and caches what it sees, so that a plan is based on one
// view of the file system.
type resolver struct {
	files *heeded
	seen  map[string]fs.FileInfo
}

func newResolver(files Files) *resolver {
	return &resolver{files: &heeded{Files: files}, seen: make(map[string]fs.FileInfo, 256)} // a plan looks at some two hundred
}

// maxLinks is the kernel's MAXSYMLINKS: path_resolution(7).
const maxLinks = 40

var errLoop = errors.New("too many levels of symbolic links")

// resolve follows every link of an absolute, clean path.
func (r *resolver) resolve(path string) (resolvedPath, error) {
	at, rest := "/", strings.TrimPrefix(path, "/")
	p := resolvedPath{path: "/", exists: true, dir: true}
	for links := 0; rest != ""; {
		name, tail, _ := strings.Cut(rest, "/")
		rest = tail
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := r.lstat(next)
		if err != nil {
			return resolvedPath{}, err
		}
		if info == nil {
			return resolvedPath{path: filepath.Join(next, rest), links: p.links}, nil
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if links++; links > maxLinks {
				return resolvedPath{}, fmt.Errorf("%s: %w", path, errLoop)
			}
			content, err := r.files.Readlink(next)
			if err != nil {
				return resolvedPath{}, err
			}
			p.links = append(p.links, next)
			if filepath.IsAbs(content) {
				at = "/"
			}
			rest = content + "/" + rest
			continue
		}
		at = next
	}
	return r.found(at, p.links)
}

func (r *resolver) found(at string, links []string) (resolvedPath, error) {
	info, err := r.lstat(at)
	if err != nil {
		return resolvedPath{}, err
	}
	return resolvedPath{path: at, exists: true, dir: info.IsDir(), mode: info.Mode(), owner: ownerOf(info), links: links}, nil
}

// directory resolves the path of a directory that must exist.
func (b *builder) directory(what, path, hint string) (resolvedPath, error) {
	p, err := b.files.resolve(path)
	switch {
	case err != nil:
		return p, Refuse(CodeDeclaration, hint, "%s %q: %w", what, path, err)
	case !p.dir:
		return p, Refuse(CodeDeclaration, hint, "%s %q is not a directory", what, path)
	}
	return p, nil
}

// lstat returns nil if the file does not exist.
func (r *resolver) lstat(path string) (fs.FileInfo, error) {
	if info, ok := r.seen[path]; ok {
		return info, nil
	}
	info, err := r.files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		info, err = nil, nil
	}
	if err == nil {
		r.seen[path] = info
	}
	return info, err
}

// heeded remembers the first error that leaves a doubt. Planning goes on after many errors
// as if nothing were there, and [Build] then refuses the plan.
type heeded struct {
	Files
	doubt error
}

func (h *heeded) heed(err error) {
	if h.doubt == nil && Doubtful(err) {
		h.doubt = err
	}
}

// Doubtful reports whether an error leaves open what is there. It does not if the command
// cannot reach the file either, because it has the caller's rights at most, or if the file
// is not of the kind that was looked for.
func Doubtful(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return false
	}
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.EACCES, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.EISDIR, syscall.ENXIO:
		return false
	}
	return true
}

func (h *heeded) Lstat(path string) (info fs.FileInfo, err error) {
	info, err = h.Files.Lstat(path)
	h.heed(err)
	return info, err
}

func (h *heeded) Readlink(path string) (content string, err error) {
	content, err = h.Files.Readlink(path)
	h.heed(err)
	return content, err
}

func (h *heeded) ReadFile(path string) (text []byte, err error) {
	text, err = h.Files.ReadFile(path)
	h.heed(err)
	return text, err
}

func (h *heeded) ReadResolved(path string) (text []byte, err error) {
	text, err = h.Files.ReadResolved(path)
	h.heed(err)
	return text, err
}

func (h *heeded) Entries(path string) (list []fs.DirEntry, err error) {
	list, err = h.Files.Entries(path)
	h.heed(err)
	return list, err
}

func ownerOf(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return 0
}

// linksTo returns the number of hard links of a file.
func linksTo(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

func join(list []string) string { return strings.Join(list, ", ") }
