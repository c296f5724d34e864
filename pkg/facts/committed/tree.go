package committed

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/gitrepo"
)

// tree is a commit's files at the place where the work space was. It implements [facts.Tree].
// Outside of the work space there are only the directories above it.
type tree struct {
	revision *gitrepo.Revision
	root     string // of the work space; absolute
	entries  map[string]*entry
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

// newTree lists the files of a revision below root.
func newTree(revision *gitrepo.Revision, root string) (*tree, error) {
	files, err := revision.Files()
	if err != nil {
		return nil, err
	}
	t := &tree{revision, path.Clean(root), map[string]*entry{}}
	t.dir(t.root)
	t.add(path.Join(t.root, ".git"), fs.ModeDir, "")
	for name, object := range files {
		mode, oid, _ := strings.Cut(object, " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: mode %q: %w", name, mode, err)
		}
		t.add(path.Join(t.root, name), modeOf(bits), oid)
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
func (t *tree) dir(name string) *entry {
	if e := t.entries[name]; e != nil {
		return e
	}
	e := &entry{name: path.Base(name), mode: fs.ModeDir | 0o755}
	t.entries[name] = e
	if name != "/" {
		above := t.dir(path.Dir(name))
		above.names = append(above.names, e.name)
	}
	return e
}

func (t *tree) add(name string, mode fs.FileMode, oid string) {
	if mode.IsDir() {
		t.dir(name)
		return
	}
	above := t.dir(path.Dir(name))
	above.names = append(above.names, path.Base(name))
	t.entries[name] = &entry{name: path.Base(name), mode: mode, oid: oid}
}

func (t *tree) find(op, name string) (*entry, error) {
	if e := t.entries[path.Clean(name)]; e != nil {
		return e, nil
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

// Lstat implements [facts.Tree].
func (t *tree) Lstat(name string) (fs.FileInfo, error) {
	e, err := t.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// maxLink is the size limit of the target of a symbolic link: PATH_MAX.
const maxLink = 4096

// Readlink implements [facts.Tree].
func (t *tree) Readlink(name string) (string, error) {
	e, err := t.find("readlink", name)
	if err != nil {
		return "", err
	}
	if e.mode.Type() != fs.ModeSymlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	target, err := t.revision.Blob(e.oid, maxLink)
	return string(target), err
}

// Names implements [facts.Tree].
func (t *tree) Names(dir string, most int) ([]string, error) {
	e, err := t.find("open", dir)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid}
	}
	return slices.Clone(e.names[:min(most, len(e.names))]), nil
}

// ReadFile implements [facts.Tree].
func (t *tree) ReadFile(name string, most int64) ([]byte, error) {
	for range maxHops {
		e, err := t.find("open", name)
		switch {
		case err != nil:
			return nil, err
		case e.mode.IsRegular():
			return t.revision.Blob(e.oid, most)
		case e.IsDir():
			return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
		}
		target, err := t.Readlink(name)
		if err != nil {
			return nil, err
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		name = target
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// maxHops is how many symbolic links a name may lead through: MAXSYMLINKS, path_resolution(7).
const maxHops = 40
