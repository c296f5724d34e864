package plan

import (
	"io/fs"
	"path/filepath"
	"slices"

	"ethos/pkg/sandbox/kernel/mount"
)

// absent finds the placeholder for an entry that does not exist, or for its first ancestor
// that does not exist. needed is false if the command cannot create anything there.
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
		// A file that is held in place stays a file, so nothing can be created below it.
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

// othersOnly reports whether a directory belongs to another user who lets nobody else
// create files in it. Root can, but confined root cannot, because it has no capabilities
// there except over the files of an [Owner].
func (b *builder) othersOnly(info fs.FileInfo) bool {
	return !b.mine(info) && info.Mode().Perm()&0o022 == 0
}

// closed handles a missing path in a directory that is not writable. The owner of the
// directory could make it writable inside, so it is shown read-only.
func (b *builder) closed(e *Entry, dir string, above Entry) (needed bool, err error) {
	info, err := b.files.lstat(dir)
	if err != nil || info == nil || above.Access != ReadWrite {
		return false, err // the command cannot write there either
	}
	if !b.mine(info) {
		return b.held(e, dir, above)
	}
	if dir == above.Path {
		return false, Refuse(CodeDeclaration, "make it writable (chmod u+w), or use a profile that does not write there", "%s belongs to you but is not writable: the sandbox could not keep %s from being created in it", dir, e.Path)
	}
	e.Path, e.Access, e.Dir, e.Exists, e.Empty = dir, ReadOnly, true, true, false
	return true, nil
}

// held handles a missing path in another user's directory, in which the command can create
// nothing. The command could rename the directory, or one above it, and make its own; so
// the directory is held in place.
func (b *builder) held(e *Entry, dir string, above Entry) (needed bool, err error) {
	if dir == above.Path {
		return false, nil
	}
	e.hold(dir, true)
	return true, nil
}

const whyHeld = "held in place"

// hold turns the entry into a mere mount of path. A mount point can be neither renamed nor
// removed, and the directories above it are pinned.
func (e *Entry) hold(path string, dir bool) {
	e.Path, e.Access, e.Dir, e.Exists, e.Empty, e.Why = path, ReadWrite, dir, true, false, whyHeld
}

// locked returns the topmost directory on the way to dir that the command cannot enter,
// because it belongs to another user who lets nobody else in; "" if there is none. Root
// sees what is in it when the plan is made, but reaches none of it inside.
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

// finalize changes every entry that restricts the writable tree around it into one that can
// be mounted.
func (b *builder) finalize(entries []Entry) ([]Entry, error) {
	out := newCovers(nil)
	var locks []string
	for _, e := range entries {
		if e.Why != denied && slices.ContainsFunc(locks, func(lock string) bool { return mount.Within(e.Path, lock) }) {
			continue
		}
		above := out.covering(e.Path)
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
		if !e.Exists && e.Access != ReadWrite && (above.Access == ReadWrite || e.Empty && above.Access == ReadOnly && b.spec.Backend != Bwrap) {
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
		if _, taken := out.at[e.Path]; !taken {
			out.add(e)
		}
	}
	slices.SortStableFunc(out.entries, func(x, y Entry) int { return mount.Depth(x.Path) - mount.Depth(y.Path) })
	return out.entries, nil
}
