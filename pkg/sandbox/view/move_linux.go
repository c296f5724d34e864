package view

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

// wholeDirs returns the directories that can move from the upper layer as they
// are: by index in the list, how many changes each stands for, itself included.
// Such a directory exists only in the view, its content is complete in the
// list, and a copy of it would not differ. A directory within another one is not
// returned, nor is one that the view would no longer show.
func wholeDirs(changes []Change) map[int]int {
	found := map[int]int{}
	movable := make([]bool, len(changes))
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		movable[i] = alike(c)
		if c.Type != "directory" || !movable[i] {
			continue
		}
		end := i + 1 + c.below
		complete := end <= len(changes)
		for k := i + 1; complete && k < end; k += 1 + changes[k].below {
			complete = movable[k] && changes[k].attrs == noAttrs && within(changes[k], c)
		}
		movable[i] = complete
	}
	for i := 0; i < len(changes); i++ {
		if n := 1 + changes[i].below; changes[i].Type == "directory" && movable[i] && !changes[i].stays && linksWithin(changes[i:i+n]) {
			found[i] = n
			i += n - 1
		}
	}
	return found
}

func within(c Change, dir *Change) bool {
	return c.Root == dir.Root && strings.HasPrefix(c.Rel, dir.Rel+"/")
}

// alike reports whether what the view has at one name is what a copy of it
// would be: new, with permissions only, and without extended attributes.
func alike(c *Change) bool {
	if c.Op != record.WriteCreated || c.lower.there || !c.upper.there || c.since || c.Rel == "" {
		return false
	}
	switch c.Type {
	case "directory":
		return c.attrs != otherAttrs && c.Mode&^0o777 == 0 && c.Mode&0o700 == 0o700
	case "file":
		return c.attrs == noAttrs && c.Mode&^0o777 == 0 && c.Mode&0o400 != 0 // a file that is not readable was changed to be read
	}
	return c.Type == "symlink" || c.Type == "fifo" && c.Mode&^0o777 == 0
}

// linksWithin reports whether all names of each file are in the directory.
func linksWithin(changes []Change) bool {
	names := map[uint64]uint64{}
	for i := range changes {
		if u := &changes[i].upper; u.names > 1 && !isDir(*u) {
			if names[u.Ino]++; names[u.Ino] == u.names {
				delete(names, u.Ino)
			}
		}
	}
	return len(names) == 0
}

// move moves a directory with its content from the upper layer. It reports false
// if nothing was moved; then the changes are applied one by one, which also
// finds out why. Nothing runs in the view, and no command can see the layer.
func (a *applier) move(changes []Change) bool {
	c := changes[0]
	dir, name, err := a.parent(c)
	if err != nil {
		return false
	}
	defer dir.Close()
	if st, err := stampOf(int(dir.Fd()), "."); err != nil || st.Mode&unix.S_ISGID != 0 { // a copy would inherit the group
		return false
	}
	upper, err := openDir(unix.AT_FDCWD, a.view.Upper(c.Root))
	if err != nil {
		return false
	}
	defer upper.Close()
	from, err := beneath(upper, filepath.Dir(c.Rel), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer from.Close()
	if c.attrs == opaqueMark && unmark(int(from.Fd()), name) != nil {
		return false
	}
	if rename(int(from.Fd()), name, int(dir.Fd()), name, unix.RENAME_NOREPLACE) != nil {
		return false
	}
	a.note(c)
	for _, in := range changes[1:] {
		a.noteState(in.Path, in.upper)
	}
	a.result.Applied = append(a.result.Applied, changes...)
	return true
}

// unmark removes the mark of an opaque directory.
func unmark(dir int, name string) error {
	f, err := openDir(dir, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fremovexattr(int(f.Fd()), marks+"opaque"); err != nil && !errors.Is(err, unix.ENODATA) {
		return err
	}
	return nil
}
