package plan

import (
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
	if dir := filepath.Dir(path); !b.files.files.Writable(dir) {
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

// closed deals with what is missing in a directory that is not writable. Its owner could make it so inside: it is shown read-only then.
func (b *builder) closed(e *Entry, dir string, above Entry) (needed bool, err error) {
	info, err := b.files.lstat(dir)
	if err != nil || info == nil || ownerOf(info) != b.uid || above.Access != ReadWrite {
		return false, err // for the command neither
	}
	if dir == above.Path {
		return false, Refuse(CodeDeclaration, "chmod u+w it, or use a profile that does not write there", "%s is yours and not writable: %s could not be kept from coming to exist in it", dir, e.Path)
	}
	e.Path, e.Access, e.Dir, e.Exists, e.Empty = dir, ReadOnly, true, true, false
	return true, nil
}

func (b *builder) put(g Placeholder) {
	if !slices.ContainsFunc(b.placeholders, func(other Placeholder) bool { return other.Path == g.Path }) {
		b.placeholders = append(b.placeholders, g)
	}
}

// finalize makes every entry that is less than the writable tree around it one that can be mounted.
func (b *builder) finalize(entries []Entry) ([]Entry, error) {
	out := make([]Entry, 0, len(entries))
	for _, e := range entries {
		above := Covering(out, e.Path)
		if !e.Exists && e.Access != ReadWrite && (above.Access == ReadWrite || e.Empty && above.Access == ReadOnly) {
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
