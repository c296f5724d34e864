package treescan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxNames is the most that 32 bits count.
const maxNames = 1<<32 - 1

// listingCost is how many directories are written in the time in which one is
// listed.
const listingCost = 50

// outdated reports whether a new memory costs less than the directories that have
// to be listed without it.
func (t *Tree) outdated() bool {
	return t.fresh > 0 && (t.old == nil || t.fresh*listingCost >= t.Dirs)
}

// memory is what the next scan starts from.
func (t *Tree) memory() *memory {
	if !t.outdated() {
		return t.old
	}
	id := identity(t.Root, t.options.InterestID, t.at)
	m, err := decode(encode(t, id), id, t.at)
	if err != nil {
		return nil
	}
	return m
}

// Save writes the memory for the next process, with the directories above the
// file as far as they do not exist. It does nothing when there is no file for it,
// or when the next scan would gain less than it costs. Memories in the same folder
// that no scan uses any more, because the machine has started since, are removed.
func (t *Tree) Save() error {
	if t.options.Memory == "" || !t.outdated() || t.at.boot == "" {
		return nil
	}
	data := encode(t, identity(t.Root, t.options.InterestID, t.at))
	if len(data) > maxNames {
		return &fs.PathError{Op: "write", Path: t.options.Memory, Err: errors.New("too many directories to remember")}
	}
	dir := filepath.Dir(t.options.Memory)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	t.at.prune(dir)
	f, err := os.CreateTemp(dir, unfinished+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), t.options.Memory)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
