package view

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

// Changes lists the differences in the view, a directory before its content.
// Everything that ran in the view must be dead.
func (v *View) Changes(ctx context.Context) ([]Change, error) { return v.changes(ctx, true) }

// Unhashed is Changes without the hashes of files with one name, for a caller
// that only counts and applies them.
func (v *View) Unhashed(ctx context.Context) ([]Change, error) { return v.changes(ctx, false) }

func (v *View) changes(ctx context.Context, hashed bool) ([]Change, error) {
	var all []Change
	holes := int64(maxHoles)
	for i, root := range v.Roots {
		w := &walker{ctx: ctx, view: v, root: i, links: map[[2]uint64]string{}, sums: &sums{}, hashed: hashed, holes: &holes}
		upper, err := openDir(unix.AT_FDCWD, v.Upper(i))
		if err != nil {
			return nil, err
		}
		lower, err := openDir(unix.AT_FDCWD, root.Path)
		if err == nil {
			err = w.rootMode(upper, lower)
		}
		var opaque bool
		if err == nil {
			_, opaque, err = isOpaque(upper)
		}
		if err == nil {
			err = w.directory(upper, lower, "", opaque)
		}
		upper.Close()
		if lower != nil {
			lower.Close()
		}
		if err = errors.Join(err, w.sums.finish(w.list)); err != nil {
			return nil, err
		}
		all = append(all, w.list...)
	}
	return all, nil
}

// walker walks one upper layer. It opens directories one below the other and
// follows no symbolic link.
type walker struct {
	ctx     context.Context
	view    *View
	root    int
	list    []Change
	links   map[[2]uint64]string // the first path of files with several
	sums    *sums
	removed int    // whiteouts of names that are not in the lower layer either
	hashed  bool   // the hash of each file is wanted
	holes   *int64 // how many bytes of holes may still be read
}

// openDir opens a directory for listing. A directory in an upper layer that its
// owner cannot list is made listable meanwhile.
func openDir(dir int, name string) (*os.File, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// forced opens a name in the upper layer regardless of its permissions, and
// restores them.
func forced(dir int, name string, flags int, mode uint32) (*os.File, error) {
	flags |= unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err := unix.Openat(dir, name, flags, 0)
	if errors.Is(err, unix.EACCES) {
		if err = unix.Fchmodat(dir, name, mode&0o7777|0o500, 0); err == nil {
			fd, err = unix.Openat(dir, name, flags, 0)
			unix.Fchmodat(dir, name, mode&0o7777, 0)
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(fd), name), nil
}

// searchable makes an open directory of the upper layer, whose mode is given,
// readable and searchable for its owner until restore is called.
func searchable(dir *os.File, mode uint32) (restore func()) {
	if mode&0o500 == 0o500 || unix.Fchmod(int(dir.Fd()), mode&0o7777|0o500) != nil {
		return func() {}
	}
	return func() { unix.Fchmod(int(dir.Fd()), mode&0o7777) }
}

func (w *walker) rootMode(upper, lower *os.File) error {
	u, err := stampOf(int(upper.Fd()), ".")
	if err != nil {
		return err
	}
	l, err := stampOf(int(lower.Fd()), ".")
	if err == nil && l.Mode&0o1777 != u.Mode&0o1777 {
		c := w.change("", u, l)
		w.list = append(w.list, c)
	}
	return err
}

// directory compares a directory of the upper layer with the one of the same
// name below, or nil if there is none. opaque says that nothing of the lower
// directory is visible.
func (w *walker) directory(upper, lower *os.File, rel string, opaque bool) error {
	if err := w.ctx.Err(); err != nil {
		return context.Cause(w.ctx)
	}
	names, err := upper.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if err := w.entry(upper, lower, filepath.Join(rel, name), name, opaque); err != nil {
			return err
		}
	}
	if !opaque || lower == nil {
		return nil
	}
	below, err := lower.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(below)
	for _, name := range below {
		if _, found := slices.BinarySearch(names, name); !found {
			l, err := stampOf(int(lower.Fd()), name)
			if err == nil {
				err = w.gone(lower, filepath.Join(rel, name), name, l)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) entry(upper, lower *os.File, rel, name string, opaque bool) error {
	u, err := stampOf(int(upper.Fd()), name)
	if err != nil {
		return err
	}
	var l stamp
	if lower != nil {
		if l, err = stampOf(int(lower.Fd()), name); err != nil {
			return err
		}
	}
	if whiteout(int(upper.Fd()), name, u) {
		if !l.there {
			w.removed++
			return nil
		}
		return w.gone(lower, rel, name, l)
	}
	if isDir(u) {
		return w.subdirectory(upper, lower, rel, name, u, l, opaque)
	}
	if isDir(l) {
		if err := w.goneBelow(lower, rel, name); err != nil {
			return err
		}
	}
	c := w.change(rel, u, l)
	if err := w.fill(&c, int(upper.Fd()), name, l); err != nil {
		return err
	}
	if l.there && l.Mode == u.Mode && w.equal(&c, lower, name, l) {
		w.link(&c, u)
		return nil
	}
	if l.there && l.Mode == u.Mode && c.Type == "socket" {
		return nil
	}
	w.link(&c, u)
	w.list = append(w.list, c)
	return nil
}

// link records the first path of a file with several names, and sets it for the
// others.
func (w *walker) link(c *Change, u stamp) {
	if c.Type != "file" {
		return
	}
	key := [2]uint64{u.Dev, u.Ino}
	if first, ok := w.links[key]; ok {
		c.Link = first
		return
	}
	w.links[key] = c.Path
}

func (w *walker) subdirectory(upper, lower *os.File, rel, name string, u, l stamp, opaque bool) error {
	at, removed := len(w.list), w.removed
	listed := !isDir(l) || l.Mode != u.Mode
	if listed {
		w.list = append(w.list, w.change(rel, u, l))
	}
	dir, err := forced(int(upper.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY, u.Mode)
	if err != nil {
		return err
	}
	defer dir.Close()
	defer searchable(dir, u.Mode)()
	var below *os.File
	if isDir(l) {
		if below, err = openDir(int(lower.Fd()), name); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(w.view.Roots[w.root].Path, rel), err)
		}
		defer below.Close()
	}
	has, own, err := isOpaque(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", rel, err)
	}
	err = w.directory(dir, below, rel, opaque || own)
	if listed {
		c := &w.list[at]
		c.attrs, c.below, c.stays = has, len(w.list)-at-1, opaque
		if w.removed > removed { // a copy has none
			c.attrs = otherAttrs
		}
	}
	return err
}

// gone records a deletion; the content of a directory comes after it.
func (w *walker) gone(lower *os.File, rel, name string, l stamp) error {
	c := w.change(rel, stamp{}, l)
	c.Op, c.Type, c.Was, c.Mode = record.WriteDeleted, typeOf(l.Mode), "", l.Mode&0o7777
	w.list = append(w.list, c)
	if !isDir(l) {
		return nil
	}
	return w.goneBelow(lower, rel, name)
}

func (w *walker) goneBelow(lower *os.File, rel, name string) error {
	dir, err := openDir(int(lower.Fd()), name)
	if errors.Is(err, fs.ErrPermission) {
		return nil // its content is unknown, and the directory will not be removed
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		l, err := stampOf(int(dir.Fd()), name)
		if err == nil && l.there {
			err = w.gone(dir, filepath.Join(rel, name), name, l)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// change returns the change of one name, without content.
func (w *walker) change(rel string, u, l stamp) Change {
	root := w.view.Roots[w.root].Path
	c := Change{Root: w.root, Rel: rel, Path: filepath.Join(root, rel), Op: record.WriteCreated, Type: typeOf(u.Mode), Mode: u.Mode & 0o7777, lower: l, upper: u}
	if l.there {
		c.Op = record.WriteModified
		if was := typeOf(l.Mode); was != c.Type {
			c.Was = was
		}
		c.since = w.view.changedSince(c.Path, l)
	}
	return c
}

// aReading is the maximum difference, in nanoseconds, between two readings of
// [steady] if nobody has set the clock.
const aReading = 1e6

// changedSince reports whether somebody changed the file since the view was
// created. For a directory the change time is not compared, because it reflects
// its entries, which are compared themselves.
func (v *View) changedSince(path string, l stamp) bool {
	if isDir(l) {
		return false
	}
	if a, ok := v.Applied[path]; ok && a.Ino == l.Ino && a.Ctime == l.Ctime {
		return false
	}
	since := v.Since[0]*1e9 + v.Since[1]
	if back := v.Steady - steady(); v.Boot == bootID() && back > aReading { // the clock was set back
		since -= back
	}
	switch ns := l.Ctime[1]; { // the timestamp resolution of the file system
	case ns == 0:
		since -= 2e9
	case ns%1e7 == 0:
		since -= 1e7
	}
	return l.Ctime[0]*1e9+l.Ctime[1] >= since
}
