package treescan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// maxNames is the largest 32-bit number.
const maxNames = 1<<32 - 1

// listingCost is the number of directories that can be written in the time that
// listing one takes.
const listingCost = 50

// gains reports whether a new memory is worthwhile if it saves listing this
// number of directories the next time.
func (t *Tree) gains(fresh int) bool {
	return fresh > 0 && (t.old == nil || fresh*listingCost >= t.Dirs)
}

// memory returns the memory that the next scan in this process starts from.
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

// unsaved returns the number of directories that are not in the file.
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

// Save writes the memory for the next process, and creates the directories
// above the file. It does nothing if no file is configured, or if the next scan
// would gain less than writing costs. The first time, it removes memories in the
// same folder that no scan uses any more, because the machine has rebooted since.
func (t *Tree) Save() error {
	if fresh := t.unsaved(); t.options.Memory == "" || fresh < t.options.Spares || !t.gains(fresh) || t.at.boot == "" {
		return nil
	}
	var data []byte
	if t.fresh == 0 && len(t.changed) == 0 {
		data = t.old.data // as the previous scan wrote it
	} else {
		data = encode(t, identity(t.Root, t.options.InterestID, t.at))
	}
	if uint64(len(data)) > maxNames {
		return &fs.PathError{Op: "write", Path: t.options.Memory, Err: errors.New("too many directories to remember")}
	}
	dir := filepath.Dir(t.options.Memory)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if t.old == nil {
		t.at.prune(dir)
	}
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
