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

// gains reports whether so many directories that need not be listed the next time
// are worth a new memory.
func (t *Tree) gains(fresh int) bool {
	return fresh > 0 && (t.old == nil || fresh*listingCost >= t.Dirs)
}

// memory is what the next scan in this process starts from.
func (t *Tree) memory() *memory {
	if !t.gains(t.fresh) {
		return t.old
	}
	m := t.encoded()
	if m != nil {
		m.unsaved = t.unsaved()
	}
	return m
}

// unsaved counts the directories that the file does not know of.
func (t *Tree) unsaved() int {
	if t.old == nil {
		return t.fresh
	}
	return t.fresh + t.old.unsaved
}

func (t *Tree) encoded() *memory {
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
	if t.options.Memory == "" || !t.gains(t.unsaved()) || t.at.boot == "" {
		return nil
	}
	var data []byte
	if t.fresh == 0 && len(t.changed) == 0 {
		data = t.old.data // as the scan before wrote it
	} else {
		data = encode(t, identity(t.Root, t.options.InterestID, t.at))
	}
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
	switch {
	case err != nil:
		os.Remove(f.Name())
	case t.old != nil:
		t.old.unsaved = 0
	}
	return err
}
