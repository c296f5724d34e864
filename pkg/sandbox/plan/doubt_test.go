package plan

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ethos/pkg/internal/faketree"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/shorttest"
)

// failing is a tree of which one lookup fails.
type failing struct {
	faketree.Tree
	calls int // how many lookups there have been
	at    int // which of them fails, from 1 on; 0 for none
	with  syscall.Errno
	path  string // of the lookup that has failed
	below string // a directory that the caller may not search, or ""
}

func (f *failing) fails(op, path string) error {
	if f.below != "" && strings.HasPrefix(path, f.below+"/") {
		return &fs.PathError{Op: op, Path: path, Err: syscall.EACCES}
	}
	if f.calls++; f.calls != f.at {
		return nil
	}
	f.path = path
	return &fs.PathError{Op: op, Path: path, Err: f.with}
}

func (f *failing) Lstat(path string) (fs.FileInfo, error) {
	if err := f.fails("lstat", path); err != nil {
		return nil, err
	}
	return f.Tree.Lstat(path)
}

func (f *failing) Readlink(path string) (string, error) {
	if err := f.fails("readlink", path); err != nil {
		return "", err
	}
	return f.Tree.Readlink(path)
}

func (f *failing) ReadFile(path string) ([]byte, error) {
	if err := f.fails("read", path); err != nil {
		return nil, err
	}
	return f.Tree.ReadFile(path)
}

func (f *failing) ReadResolved(path string) ([]byte, error) {
	if err := f.fails("read", path); err != nil {
		return nil, err
	}
	return f.Tree.ReadResolved(path)
}

func (f *failing) Entries(path string) ([]fs.DirEntry, error) {
	if err := f.fails("open", path); err != nil {
		return nil, err
	}
	return f.Tree.Entries(path)
}

// TestDoubt: a lookup that leaves open what is there refuses the plan, whichever it is, and
// says which file it was. One that the command could not make either need not.
func TestDoubt(t *testing.T) {
	shorttest.Long(t)
	for seed := range uint64(12) {
		w := newWorld(seed)
		whole := &failing{Tree: w.tree}
		if _, err := Build(w.spec, whole, faketree.User); err != nil {
			continue
		}
		met := 0
		for at := 1; at <= whole.calls; at++ {
			f := &failing{Tree: w.tree, at: at, with: []syscall.Errno{syscall.EIO, syscall.EPERM, syscall.ENOMEM, syscall.ESTALE}[at%4]}
			_, err := Build(w.spec, f, faketree.User)
			if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Code == "" {
				t.Errorf("world %d, lookup %d, of %s, fails: %v", seed, at, f.path, err)
			} else if strings.Contains(err.Error(), f.path) {
				met++
			}
			f = &failing{Tree: w.tree, at: at, with: syscall.EACCES}
			if _, err := Build(w.spec, f, faketree.User); err != nil {
				if _, ok := errors.AsType[*Refusal](err); !ok {
					t.Errorf("world %d, lookup %d, of %s, is denied: %v", seed, at, f.path, err)
				}
			}
		}
		if met < whole.calls/2 {
			t.Errorf("world %d: only %d of %d refusals name the file", seed, met, whole.calls)
		}
	}
}

// TestUnsearchable: a secret of the system in a directory that the caller may not search
// refuses no plan, and the directory is hidden.
func TestUnsearchable(t *testing.T) {
	w := newWorld(4) // its declarations can be met
	w.tree.File("/etc/mysql/debian.cnf", "")
	for _, dir := range []string{"", "/etc/mysql"} {
		p, err := Build(w.spec, &failing{Tree: w.tree, below: dir}, faketree.User)
		if err != nil {
			t.Fatal(err)
		}
		target := dir
		if dir == "" {
			target = "/etc/mysql/debian.cnf"
		}
		if !slices.ContainsFunc(p.Mounts, func(m mount.Mount) bool { return m.Target == target && m.Kind == mount.Mask }) {
			t.Errorf("%q may not be searched, and %s is not hidden", dir, target)
		}
	}
}
