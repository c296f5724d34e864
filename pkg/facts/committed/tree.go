package committed

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ethos/pkg/gitrepo"
)

// tree is a commit's files at the place where the work space was. It implements [facts.Tree].
// Outside of the work space there are only the directories above it. As in a file system, names
// lead through symbolic links.
type tree struct {
	revision *gitrepo.Revision
	root     string // of the work space; absolute
	entries  map[string]*entry
	lacks    error // an object of the commit that the clone does not have
}

// entry is a file or directory. It implements [fs.FileInfo].
type entry struct {
	name  string
	mode  fs.FileMode
	oid   string
	names []string // in a directory, sorted
}

func (e *entry) Name() string       { return e.name }
func (e *entry) Size() int64        { return 0 }
func (e *entry) Mode() fs.FileMode  { return e.mode }
func (e *entry) ModTime() time.Time { return time.Time{} }
func (e *entry) IsDir() bool        { return e.mode.IsDir() }
func (e *entry) Sys() any           { return nil }

// maxPath is the size limit of a path, and of the target of a symbolic link: PATH_MAX.
const maxPath = 4096

// newTree lists the files of a revision below root, which is absolute and clean.
func newTree(revision *gitrepo.Revision, root string) (*tree, error) {
	files, err := revision.Files()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %v", ErrLacks, err)
	}
	if err != nil {
		return nil, err
	}
	t := &tree{revision: revision, root: root, entries: map[string]*entry{}}
	if _, err := t.dir(root); err != nil {
		return nil, err
	}
	if _, err := t.dir(path.Join(root, ".git")); err != nil {
		return nil, err
	}
	for name, object := range files {
		mode, oid, _ := strings.Cut(object, " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err == nil {
			err = t.add(path.Join(root, name), modeOf(bits), oid)
		}
		if err != nil {
			return nil, fmt.Errorf("list the files of the commit: %q, mode %s: %w", name, mode, err)
		}
	}
	for _, e := range t.entries {
		slices.Sort(e.names)
	}
	return t, nil
}

// modeOf converts the mode of a tree entry: gitformat-index(5). A submodule is an empty directory.
func modeOf(bits uint64) fs.FileMode {
	switch bits & 0o170000 {
	case 0o120000:
		return fs.ModeSymlink | 0o777
	case 0o160000:
		return fs.ModeDir | 0o755
	}
	return fs.FileMode(bits) & 0o777
}

// dir returns a directory, and adds it and those above it if they are not there.
func (t *tree) dir(name string) (*entry, error) {
	if e := t.entries[name]; e != nil {
		if !e.IsDir() {
			return nil, syscall.ENOTDIR
		}
		return e, nil
	}
	e := &entry{name: path.Base(name), mode: fs.ModeDir | 0o755}
	if name != "/" {
		above, err := t.dir(path.Dir(name))
		if err != nil {
			return nil, err
		}
		above.names = append(above.names, e.name)
	}
	t.entries[name] = e
	return e, nil
}

// add adds a file. A commit that has two of one name is an error: no work tree is like it.
func (t *tree) add(name string, mode fs.FileMode, oid string) error {
	if mode.IsDir() {
		_, err := t.dir(name)
		return err
	}
	above, err := t.dir(path.Dir(name))
	if err == nil && t.entries[name] != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return err
	}
	above.names = append(above.names, path.Base(name))
	t.entries[name] = &entry{name: path.Base(name), mode: mode, oid: oid}
	return nil
}

// maxLinks is how many symbolic links a name may lead through: MAXSYMLINKS, path_resolution(7).
const maxLinks = 40

// find returns what a name leads to: path_resolution(7). It follows a link in the last component
// only if follow is set.
func (t *tree) find(op, name string, follow bool) (*entry, error) {
	at, e, rest := "/", t.entries["/"], strings.Split(name, "/")
	fail := func(err error) (*entry, error) { return nil, &fs.PathError{Op: op, Path: name, Err: err} }
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case !e.IsDir():
			return fail(syscall.ENOTDIR)
		case part == "" || part == ".":
			continue
		case part == "..":
			at = path.Dir(at)
			e = t.entries[at]
			continue
		}
		next := t.entries[path.Join(at, part)]
		if next == nil {
			return fail(fs.ErrNotExist)
		}
		if next.mode.Type() != fs.ModeSymlink || !follow && len(rest) == 0 {
			at, e = path.Join(at, part), next
			continue
		}
		if links++; links > maxLinks {
			return fail(syscall.ELOOP)
		}
		target, err := t.blob(next, maxPath)
		if err != nil {
			return fail(err)
		}
		if strings.HasPrefix(string(target), "/") {
			at, e = "/", t.entries["/"]
		}
		rest = append(strings.Split(string(target), "/"), rest...)
	}
	return e, nil
}

// ErrLacks is wrapped by the errors of [New] and [Checker.Check] when the clone does not have all
// objects of the commit.
var ErrLacks = errors.New("the clone does not have all of the commit")

// blob returns the content of a file. An object that the clone lacks is not a file that the commit
// lacks.
func (t *tree) blob(e *entry, most int64) ([]byte, error) {
	text, err := t.revision.Blob(e.oid, most)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: object %s of %s", ErrLacks, e.oid, e.name)
		t.lacks = err
	}
	return text, err
}

// Lstat implements [facts.Tree].
func (t *tree) Lstat(name string) (fs.FileInfo, error) {
	e, err := t.find("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Readlink implements [facts.Tree].
func (t *tree) Readlink(name string) (string, error) {
	e, err := t.find("readlink", name, false)
	if err != nil {
		return "", err
	}
	if e.mode.Type() != fs.ModeSymlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	target, err := t.blob(e, maxPath)
	return string(target), err
}

// Names implements [facts.Tree].
func (t *tree) Names(dir string, most int) ([]string, error) {
	e, err := t.find("open", dir, true)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return slices.Clone(e.names[:min(most, len(e.names))]), nil
}

// ReadFile implements [facts.Tree].
func (t *tree) ReadFile(name string, most int64) ([]byte, error) {
	e, err := t.find("open", name, true)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	return t.blob(e, most)
}
