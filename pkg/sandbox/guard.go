package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
)

// Guarded is a path that must not come to exist, in a directory that is writable:
// a part of a git directory, or what a person denies by its name. Only what
// exists can be mounted over, so a placeholder stands there for the time of the
// run: an empty file or directory, and for commondir a file that names the
// directory itself. It is gone when the last run that shares it has ended. Names
// that are protected in the work tree have none, see [Watched].
type Guarded struct {
	Path    string `json:"path"`
	Dir     bool   `json:"dir"`
	Content string `json:"content,omitempty"`
}

// absent guards an entry that does not exist, or the first directory above it that does not. It is not needed where nothing can be made.
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
	if e.inGit() && path != e.Path && path == filepath.Dir(e.Path) {
		b.put(Guarded{Path: path, Dir: true}) // .git/info, which stays writable
		path = e.Path
	}
	g := e.placeholder(path)
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
		return false, refuse(CodeDeclaration, "chmod u+w it, or use a profile that does not write there", "%s is yours and not writable: %s could not be kept from coming to exist in it", dir, e.Path)
	}
	e.Path, e.Access, e.Dir, e.Exists, e.Empty = dir, ReadOnly, true, true, false
	return true, nil
}

func (e *Entry) inGit() bool {
	return e.Why == gitConfiguration || slices.Contains(splitPath(e.Path), ".git")
}

// placeholder is what stands for a path on the way to the entry: a directory for
// each on the way, and for the last a file where a file would have its name.
func (e *Entry) placeholder(path string) Guarded {
	g := Guarded{Path: path, Dir: true}
	switch {
	case path != e.Path:
	case e.inGit():
		g.Dir = filepath.Base(path) == "hooks"
		if filepath.Base(path) == "commondir" {
			g.Content = ".\n"
		}
	default:
		g.Dir = e.Dir || isDirName(filepath.Base(path))
	}
	return g
}

// dotDirs are names with a dot in front that directories have; all others of
// that kind are taken for files.
var dotDirs = []string{
	ethosDir, ".aws", ".azure", ".cache", ".cargo", ".circleci", ".config", ".devcontainer", ".docker", ".git", ".github", ".gitlab", ".gnupg",
	".husky", ".kube", ".local", ".m2", ".npm", ".ssh", ".terraform", ".venv", ".yarn",
}

// isDirName guesses from a name whether it is a directory's. A program that
// reads a file is stopped by a directory (EISDIR) and takes an empty file for no
// settings; one that lists a directory takes a file for none (ENOTDIR).
func isDirName(name string) bool {
	for _, n := range protected.Names() {
		if n.Path == name {
			return n.Dir
		}
	}
	rest, dotted := strings.CutPrefix(name, ".")
	switch ext := filepath.Ext(rest); {
	case slices.Contains(dotDirs, name), ext == ".d":
		return true
	case dotted, ext != "":
		return false
	}
	return name == strings.ToLower(name) // not Makefile, LICENSE
}

func (b *builder) put(g Guarded) {
	if !slices.ContainsFunc(b.guarded, func(other Guarded) bool { return other.Path == g.Path }) {
		b.guarded = append(b.guarded, g)
	}
}

// settle makes every entry that is less than the writable tree around it one that can be mounted.
func (b *builder) settle(entries []Entry) ([]Entry, error) {
	out := make([]Entry, 0, len(entries))
	for _, e := range entries {
		above := covering(out, e.Path)
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
