package plan

import (
	"io/fs"
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// absent finds the placeholder for an entry that does not exist, or the first directory above it that does not. It is not needed where nothing can be made.
func (b *builder) absent(e *Entry, above Entry) (needed bool, err error) {
	path := e.Path
	for up := filepath.Dir(path); up != above.Path; up = filepath.Dir(up) {
		info, err := b.files.lstat(up)
		if err != nil {
			return false, err
		}
		if info != nil {
			break
		}
		path = up
	}
	dir := filepath.Dir(path)
	info, err := b.files.lstat(dir)
	switch {
	case err != nil:
		return false, err
	case info != nil && !info.IsDir():
		// A file stays one that is held in place: nothing comes to exist below it.
		e.hold(dir, false)
		return true, nil
	case info != nil && b.othersOnly(info), !b.files.files.Writable(dir):
		return b.closed(e, dir, above)
	}
	if e.InGit() && path != e.Path && path == filepath.Dir(e.Path) {
		b.put(Placeholder{Path: path, Dir: true}) // .git/info, which stays writable
		path = e.Path
	}
	g := e.Placeholder(path)
	b.put(g)
	e.Path, e.Dir, e.Exists = path, g.Dir, true
	return true, nil
}

// othersOnly reports whether a directory is another user's, who lets nobody else
// make files in it. Root can, and confined it cannot: it has no capability there,
// but over the files of an [Owner].
func (b *builder) othersOnly(info fs.FileInfo) bool {
	return !b.mine(info) && info.Mode().Perm()&0o022 == 0
}

// closed deals with what is missing in a directory that is not writable. Its owner could make it so inside: it is shown read-only then.
func (b *builder) closed(e *Entry, dir string, above Entry) (needed bool, err error) {
	info, err := b.files.lstat(dir)
	if err != nil || info == nil || above.Access != ReadWrite {
		return false, err // for the command neither
	}
	if !b.mine(info) {
		return b.held(e, dir, above)
	}
	if dir == above.Path {
		return false, Refuse(CodeDeclaration, "chmod u+w it, or use a profile that does not write there", "%s is yours and not writable: %s could not be kept from coming to exist in it", dir, e.Path)
	}
	e.Path, e.Access, e.Dir, e.Exists, e.Empty = dir, ReadOnly, true, true, false
	return true, nil
}

// held deals with what is missing in a directory of another user's, in which the
// command can make nothing. It could rename the directory aside, or one above it,
// and make its own: so the directory is held in place.
func (b *builder) held(e *Entry, dir string, above Entry) (needed bool, err error) {
	if dir == above.Path {
		return false, nil
	}
	e.hold(dir, true)
	return true, nil
}

const whyHeld = "held in place"

// hold makes the entry one that is only a mount, with the directories above it: a
// mount point can be neither renamed nor removed.
func (e *Entry) hold(path string, dir bool) {
	e.Path, e.Access, e.Dir, e.Exists, e.Empty, e.Why = path, ReadWrite, dir, true, false, whyHeld
}

// locked is the first directory on the way that the command cannot enter, "" when
// there is none: it is another user's, who lets nobody else in. Root sees what is
// there when the plan is made, and inside reaches none of it.
func (b *builder) locked(dir string, above Entry) (lock string, err error) {
	for up := dir; up != above.Path && mount.Within(up, above.Path); up = filepath.Dir(up) {
		info, err := b.files.lstat(up)
		if err != nil {
			return "", err
		}
		if info != nil && info.IsDir() && !b.mine(info) && info.Mode().Perm()&0o011 == 0 {
			lock = up
		}
	}
	return lock, nil
}

func (b *builder) put(g Placeholder) {
	if !slices.ContainsFunc(b.placeholders, func(other Placeholder) bool { return other.Path == g.Path }) {
		b.placeholders = append(b.placeholders, g)
	}
}

// finalize makes every entry that is less than the writable tree around it one that can be mounted.
func (b *builder) finalize(entries []Entry) ([]Entry, error) {
	out := make([]Entry, 0, len(entries))
	var locks []string
	for _, e := range entries {
		if e.Why != denied && slices.ContainsFunc(locks, func(lock string) bool { return mount.Within(e.Path, lock) }) {
			continue
		}
		above := Covering(out, e.Path)
		if e.Access != ReadWrite && above.Access == ReadWrite && e.Why != denied {
			lock, err := b.locked(filepath.Dir(e.Path), above)
			if err != nil {
				return nil, err
			}
			if lock != "" {
				locks = append(locks, lock)
				e.hold(lock, true)
			}
		}
		if !e.Exists && e.Access != ReadWrite && (above.Access == ReadWrite || e.Empty && above.Access == ReadOnly) {
			if b.inView() {
				b.absentInView = append(b.absentInView, e.Path)
				continue
			}
			needed, err := b.absent(&e, above)
			if err != nil {
				return nil, err
			}
			if !needed {
				continue
			}
		}
		if slices.ContainsFunc(out, func(other Entry) bool { return other.Path == e.Path }) {
			continue
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(x, y Entry) int { return mount.Depth(x.Path) - mount.Depth(y.Path) })
	return out, nil
}
