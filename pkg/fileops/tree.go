package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// maxLinks limits the symbolic links that one path leads through: path_resolution(7).
const maxLinks = 40

// Tree is the base for resolving paths.
type Tree struct {
	root, top *os.Root   // the work space; "/"
	dir       string     // the start of relative paths, below root; "" is root itself
	protected []string   // absolute; these must not be created
	changing  sync.Mutex // one request at a time changes files, so that no edit is lost
}

// Open opens the tree of a work space. dir is the start of relative paths: the work space or a
// directory in it. Operations refuse to create the names in protected, because the boundary would
// remove them again.
func Open(workspace, dir string, protected []string) (*Tree, error) {
	rel, err := filepath.Rel(workspace, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errOutside}
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	top, err := os.OpenRoot("/")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &Tree{root: root, top: top, dir: strings.TrimPrefix(rel, "."), protected: protected}, nil
}

// Close closes the roots of the tree.
func (t *Tree) Close() error { return errors.Join(t.root.Close(), t.top.Close()) }

// place is a path without symbolic links: a name below a root. What the name leads to can change at
// any time; the root is enforced in any case.
type place struct {
	root *os.Root
	name string
}

// resolve resolves the symbolic links of a path, including one in the last component if follow is
// set. It stops at a component that does not exist: the rest stays unchanged, and the operation
// reports what is missing.
func (t *Tree) resolve(name string, follow bool) (place, error) {
	if err := checkPath(name); err != nil {
		return place{}, err
	}
	if name == "" {
		return place{}, syscall.ENOENT
	}
	p := place{root: t.top}
	rest := strings.Split(name, "/")
	if !path.IsAbs(name) {
		p.root = t.root
		rest = append(strings.Split(t.dir, "/"), rest...)
	}
	var done []string
	for links := 0; len(rest) > 0; {
		next := rest[0]
		rest = rest[1:]
		switch next {
		case "", ".":
			if len(rest) == 0 || next == "." {
				if err := p.isDirectory(done); err != nil {
					return p, err
				}
			}
			continue
		case "..":
			if err := p.up(&done, p.root == t.root); err != nil {
				return p, err
			}
			continue
		}
		at := path.Join(path.Join(done...), next)
		target, err := "", error(nil)
		if len(rest) > 0 || follow {
			target, err = p.root.Readlink(at)
		}
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ENOTDIR) {
			return p, err
		}
		if target == "" || err != nil {
			done = append(done, next)
			continue
		}
		if links++; links > maxLinks || p.root == t.top && isMagic(at) {
			return p, syscall.ELOOP
		}
		if path.IsAbs(target) {
			if p.root == t.root {
				return p, errOutside
			}
			done = nil
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	p.name = path.Join(done...)
	if p.name == "" {
		p.name = "."
	}
	return p, nil
}

// up removes the last component, which must be a directory.
func (p place) up(done *[]string, bounded bool) error {
	if len(*done) == 0 {
		if bounded {
			return errOutside
		}
		return nil
	}
	err := p.isDirectory(*done)
	*done = (*done)[:len(*done)-1]
	return err
}

// isDirectory fails unless the components lead to a directory.
func (p place) isDirectory(done []string) error {
	if len(done) == 0 {
		return nil
	}
	info, err := p.root.Lstat(path.Join(done...))
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	return err
}

// isMagic reports whether at is a link below a process's directory in proc(5): cwd, root, exe,
// fd/*, ns/*, map_files/*. Such a link leads to an object and not to the path that it shows;
// openat2(2) refuses it with RESOLVE_NO_MAGICLINKS.
func isMagic(at string) bool {
	below, ok := strings.CutPrefix(at, "proc/")
	return ok && strings.Contains(below, "/")
}

// directory opens a directory. It does not block if the name has become a FIFO.
func (p place) directory() (*os.File, error) {
	return p.root.OpenFile(p.name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}

// parent opens the directory that contains a place's last component.
func (p place) parent() (*os.File, string, error) {
	if p.name == "." {
		return nil, "", errno(syscall.EBUSY, "this is the work space or the root directory", "name something in it")
	}
	dir, err := place{p.root, path.Dir(p.name)}.directory()
	return dir, path.Base(p.name), err
}

// regular opens a regular file for reading. It opens no other file, because reading a device can
// have effects. If another file replaces it in the meantime, that is opened without blocking, and
// refused.
func (p place) regular() (*os.File, os.FileInfo, error) {
	info, err := p.root.Lstat(p.name)
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := p.root.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func regular(info os.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return errno(syscall.EISDIR, "it is a directory", `"op":"list" shows what is in it`)
	default:
		return errno(syscall.EINVAL, "it is a "+kind(mode)+", no regular file", "only regular files are read and written")
	}
}

func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symlink"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

// guard refuses to create the protected name base in the directory dir. The boundary would remove
// it again, and end a process that persists.
func (t *Tree) guard(dir *os.File, base string) error {
	for _, path := range t.protected {
		if filepath.Base(path) != base {
			continue
		}
		here, err := dir.Stat()
		there, err2 := os.Stat(filepath.Dir(path))
		if err == nil && err2 == nil && os.SameFile(here, there) {
			return errno(syscall.EACCES, base+" is protected: it decides what runs outside of the boundary", "a person makes it, outside; docs/sandbox.md lists the protected names")
		}
	}
	return nil
}
