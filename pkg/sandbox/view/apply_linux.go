package view

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
)

// tempName begins the names of files that are written before they are renamed
// into place.
const tempName = ".ethos-apply-"

// errConflict says that somebody else changed the file.
var errConflict = errors.New("it was changed outside since the view was made")

// errClosed says that the command could not have changed the file without a
// view.
var errClosed = errors.New("a command cannot change it: it decides what runs outside, or was denied")

// applier applies changes to the directories.
type applier struct {
	view   *View
	roots  []*os.File
	result Result
	modes  []mode // of directories, to be set at the end
	// unlinked lists files of which a name was removed, which also sets the
	// change time that their other names show.
	unlinked map[[2]uint64]bool
}

type mode struct {
	root int
	rel  string
	bits uint32
}

// Apply applies changes of [View.Changes]. Deletions come first, with a
// directory after its content; then the rest, with a directory before its
// content.
func (v *View) Apply(ctx context.Context, changes []Change) Result {
	a := &applier{view: v, unlinked: map[[2]uint64]bool{}}
	defer a.close()
	err := v.Exposed()
	if err == nil {
		err = a.open()
	}
	if err != nil {
		for _, c := range changes {
			a.leave(c, err)
		}
		return a.result
	}
	changes = a.allowed(changes)
	wholes := wholeDirs(changes)
	for _, c := range slices.Backward(changes) {
		if c.Op == record.WriteDeleted {
			a.one(ctx, c, a.remove)
		}
	}
	for i := 0; i < len(changes); i++ {
		if n := wholes[i]; n > 0 && ctx.Err() == nil && a.move(changes[i:i+n]) {
			i += n - 1
		} else if changes[i].Op != record.WriteDeleted {
			a.one(ctx, changes[i], a.put)
		}
	}
	for _, m := range slices.Backward(a.modes) {
		if dir, err := beneath(a.roots[m.root], m.rel, unix.O_RDONLY|unix.O_DIRECTORY); err == nil {
			var st unix.Stat_t
			if unix.Fstat(int(dir.Fd()), &st) == nil {
				unix.Fchmod(int(dir.Fd()), m.bits&0o1777|st.Mode&unix.S_ISGID)
			}
			dir.Close()
		}
	}
	return a.result
}

// Refused returns the changes that [View.Apply] would leave out, as far as that
// is known without applying any.
func (v *View) Refused(changes []Change) []Left {
	a := &applier{view: v}
	a.allowed(changes)
	return a.result.Left
}

// open opens the directories that the view was made of. It refuses a directory
// that was replaced by another one.
func (a *applier) open() error {
	for _, r := range a.view.Roots {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
		fd, err := openat2(unix.AT_FDCWD, r.Path, &how)
		if err != nil {
			return err
		}
		dir := os.NewFile(uintptr(fd), r.Path)
		a.roots = append(a.roots, dir)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || uint64(st.Dev) != r.Dev || st.Ino != r.Ino {
			return fmt.Errorf("%s is not the directory that the view was made of", r.Path)
		}
	}
	return nil
}

func (a *applier) close() {
	for _, f := range a.roots {
		f.Close()
	}
}

func openat2(dir int, name string, how *unix.OpenHow) (int, error) {
	for {
		fd, err := unix.Openat2(dir, name, how)
		if err == unix.EINTR || err == unix.EAGAIN { // EAGAIN: something was renamed concurrently
			continue
		}
		if err != nil {
			return -1, &fs.PathError{Op: "openat2", Path: name, Err: err}
		}
		return fd, nil
	}
}

// beneath opens a path below a directory without following symbolic links.
func beneath(dir *os.File, rel string, flags uint64) (*os.File, error) {
	if rel == "" {
		rel = "."
	}
	how := unix.OpenHow{Flags: flags | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := openat2(int(dir.Fd()), rel, &how)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), rel), nil
}

// allowed leaves out what must not be applied: what the command could not have
// changed without the view, and a git directory that somebody else changed.
func (a *applier) allowed(changes []Change) (list []Change) {
	touched := map[string]bool{}
	for _, c := range changes {
		if unit := repository(c.Path); c.since && unit != "" && !a.closed(c.Path) {
			touched[unit] = true
		}
	}
	for _, c := range changes {
		switch unit := repository(c.Path); {
		case a.closed(c.Path):
			a.leave(c, errClosed)
		case touched[unit]:
			a.leave(c, fmt.Errorf("%w; a git directory is applied as a whole or not at all", errConflict))
		case c.since:
			a.leave(c, errConflict)
		case c.Type == "socket" || c.Type == "device":
			a.leave(c, errors.New("it is a "+c.Type))
		case c.holes:
			a.leave(c, errHoles)
		case c.Rel == "" && c.Op != record.WriteModified:
			a.leave(c, errors.New("it is the directory itself"))
		default:
			list = append(list, c)
		}
	}
	return list
}

func (a *applier) closed(path string) bool {
	return slices.ContainsFunc(a.view.Closed, func(closed string) bool { return path == closed || strings.HasPrefix(path, closed+"/") })
}

// repository returns the directory named .git that contains a path, or "" if
// there is none.
func repository(path string) string {
	if i := strings.Index(path+"/", "/.git/"); i >= 0 {
		return path[:i+len("/.git")]
	}
	return ""
}

func (a *applier) leave(c Change, err error) {
	a.result.Left = append(a.result.Left, Left{Change: c, Reason: err.Error(), Conflict: errors.Is(err, errConflict), Closed: errors.Is(err, errClosed)})
}

func (a *applier) one(ctx context.Context, c Change, do func(dir *os.File, name string, c Change) error) {
	err := ctx.Err()
	if err == nil {
		err = a.inParent(c, do)
	}
	if err != nil {
		a.leave(c, err)
		return
	}
	a.result.Applied = append(a.result.Applied, c)
	a.note(c)
}

// note records the current state of the path, so that it is not taken for
// somebody else's change.
func (a *applier) note(c Change) {
	dir, name, err := a.parent(c)
	if err != nil {
		return
	}
	defer dir.Close()
	if st, err := stampOf(int(dir.Fd()), name); err == nil {
		a.noteState(c.Path, st)
	}
}

func (a *applier) noteState(path string, st stamp) {
	if a.view.Applied == nil {
		a.view.Applied = map[string]applied{}
	}
	if delete(a.view.Applied, path); st.there {
		a.view.Applied[path] = applied{st.Ino, st.Ctime}
	}
}

func (a *applier) parent(c Change) (dir *os.File, name string, err error) {
	if c.Rel == "" {
		dir, err = beneath(a.roots[c.Root], "", unix.O_RDONLY|unix.O_DIRECTORY)
		return dir, ".", err
	}
	above := filepath.Dir(c.Rel)
	if above == "." {
		above = ""
	}
	dir, err = beneath(a.roots[c.Root], above, unix.O_PATH|unix.O_DIRECTORY)
	return dir, filepath.Base(c.Rel), err
}

// inParent opens the directory of a change. If it belongs to the caller and is
// not writable, it is made writable until the end, as the command did.
func (a *applier) inParent(c Change, do func(dir *os.File, name string, c Change) error) error {
	dir, name, err := a.parent(c)
	if err != nil {
		return err
	}
	defer dir.Close()
	err = do(dir, name, c)
	if !errors.Is(err, fs.ErrPermission) || c.Rel == "" {
		return err
	}
	st, fault := stampOf(int(dir.Fd()), ".")
	if fault != nil || !st.own || st.Mode&0o300 == 0o300 {
		return err
	}
	if fault := unix.Chmod(descriptor(dir), st.Mode&0o7777|0o700); fault != nil {
		return err
	}
	above := filepath.Dir(c.Rel)
	if above == "." {
		above = ""
	}
	a.modes = append([]mode{{c.Root, above, st.Mode & 0o1777}}, a.modes...) // a mode from the view is set after it
	return do(dir, name, c)
}

// remove removes a name from the directory if it is still the same file. It
// first renames the file, and renames it back if it is another one.
func (a *applier) remove(dir *os.File, name string, c Change) error {
	at := int(dir.Fd())
	if isDir(c.lower) {
		err := unix.Unlinkat(at, name, unix.AT_REMOVEDIR)
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return removeError(err)
	}
	have, err := stampOf(at, name)
	if err != nil || !have.there {
		return err
	}
	if !a.is(have, c.lower) {
		return errConflict
	}
	aside := tempName + rand.Text()
	if err := rename(at, name, at, aside, unix.RENAME_NOREPLACE); err != nil {
		return err
	}
	if now, err := stampOf(at, aside); err != nil || !now.same(c.lower) {
		return errors.Join(errConflict, rename(at, aside, at, name, unix.RENAME_NOREPLACE))
	}
	a.unlinked[[2]uint64{have.Dev, have.Ino}] = true
	return removeError(unix.Unlinkat(at, aside, 0))
}

// is reports whether a file is the same as when the changes were listed.
func (a *applier) is(have, was stamp) bool {
	return have.same(was) && (have.Ctime == was.Ctime || a.unlinked[[2]uint64{was.Dev, was.Ino}])
}

func removeError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		return errors.New("the directory is not empty: something in it stays")
	}
	return fmt.Errorf("unlinkat: %w", err)
}

func rename(from int, name string, to int, next string, flags uint) error {
	if err := unix.Renameat2(from, name, to, next, flags); err != nil {
		return fmt.Errorf("renameat2: %w", err)
	}
	return nil
}

// put puts the view's version in place.
func (a *applier) put(dir *os.File, name string, c Change) error {
	at := int(dir.Fd())
	if c.Type == "directory" {
		return a.putDir(dir, name, c)
	}
	if isDir(c.lower) {
		if err := unix.Unlinkat(at, name, unix.AT_REMOVEDIR); err != nil {
			return removeError(err)
		}
		c.lower = stamp{}
	}
	temp := tempName + rand.Text()
	if err := a.make(at, temp, c); err != nil {
		unix.Unlinkat(at, temp, 0)
		return err
	}
	if err := a.place(at, temp, name, c.lower); err != nil {
		unix.Unlinkat(at, temp, 0)
		return err
	}
	return nil
}

// putDir creates a directory, or changes its mode. Only the caller can write to
// it until its content is complete.
func (a *applier) putDir(dir *os.File, name string, c Change) error {
	a.modes = append(a.modes, mode{c.Root, c.Rel, c.Mode})
	if isDir(c.lower) {
		return nil
	}
	if c.lower.there {
		if err := a.remove(dir, name, c); err != nil {
			return err
		}
	}
	err := unix.Mkdirat(int(dir.Fd()), name, c.Mode&0o777|0o700)
	if errors.Is(err, unix.EEXIST) {
		return errConflict
	}
	if err != nil {
		return fmt.Errorf("mkdirat: %w", err)
	}
	return nil
}

// place puts a file in the place of the directory's own, if that is still the
// same. The two are exchanged, so that the name always exists, and the old file
// is checked before it is removed.
func (a *applier) place(at int, temp, name string, was stamp) error {
	if !was.there {
		err := rename(at, temp, at, name, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) {
			return errConflict
		}
		return err
	}
	have, err := stampOf(at, name)
	if err != nil {
		return err
	}
	if !a.is(have, was) {
		return errConflict
	}
	if err := rename(at, temp, at, name, unix.RENAME_EXCHANGE); err != nil {
		return err
	}
	if old, err := stampOf(at, temp); err != nil || !old.same(was) {
		return errors.Join(errConflict, rename(at, temp, at, name, unix.RENAME_EXCHANGE))
	}
	a.unlinked[[2]uint64{was.Dev, was.Ino}] = true
	return removeError(unix.Unlinkat(at, temp, 0))
}
