package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
)

// Placeholder is a path in a writable directory that the command must not be able to
// create: a part of a git directory, or a path that a user denies by name. Only an existing
// path can be mounted over, so an empty file or directory is put there during the run; for
// commondir it is a file that names its own directory. The last run that shares a
// placeholder removes it. Names that are protected in the work tree have none; see
// [ProtectedNames].
type Placeholder struct {
	Path    string `json:"path"`
	Dir     bool   `json:"dir"`
	Content string `json:"content,omitempty"`
}

// ProtectedNames are the protected names of one directory. Those that exist when the plan
// is made are read-only. The others have no placeholder, so that listings of the directory
// do not change. What the command creates under such a name is quarantined at once by the
// process that started the command.
type ProtectedNames struct {
	Dir   string   `json:"dir"`
	Names []string `json:"names"` // relative, clean
}

// GitConfiguration is the reason of protected entries in a git directory.
const GitConfiguration = "git configuration"

// Protective lists the paths that must exist so that they can be mounted over: the
// placeholders, and those that existed when the plan was made.
func (p *Plan) Protective() []Placeholder {
	list := slices.Clone(p.Placeholders)
	table, listed := newCovers(nil), map[string]bool{}
	for _, g := range list {
		listed[g.Path] = true
	}
	for _, e := range p.Paths {
		above := table.covering(e.Path)
		table.add(e)
		if !protects(e, above) {
			continue
		}
		if !listed[e.Path] {
			g := e.Placeholder(e.Path)
			g.Dir = e.Dir
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b Placeholder) int { return mount.Depth(a.Path) - mount.Depth(b.Path) })
	return list
}

func (e *Entry) InGit() bool {
	return e.Why == GitConfiguration || slices.Contains(splitPath(e.Path), ".git")
}

// Placeholder returns the placeholder for a path at or above the entry. A path above is a
// directory; the entry itself is a file if its name is that of a file.
func (e *Entry) Placeholder(path string) Placeholder {
	g := Placeholder{Path: path, Dir: true}
	switch {
	case path != e.Path:
	case e.InGit():
		g.Dir = filepath.Base(path) == "hooks" || filepath.Base(path) == filepath.Base(ownInGit)
		if filepath.Base(path) == "commondir" {
			g.Content = ".\n"
		}
	default:
		g.Dir = e.Dir || isDirName(filepath.Base(path))
	}
	return g
}

// isDirName guesses from a name whether it is that of a directory. A program that reads a
// file fails on a directory (EISDIR), but takes an empty file for absent settings; one that
// lists a directory takes a file for an absent directory (ENOTDIR).
func isDirName(name string) bool {
	for _, n := range protected.Names() {
		if n.Path == name {
			return n.Dir
		}
	}
	rest, dotted := strings.CutPrefix(name, ".")
	switch ext := filepath.Ext(rest); {
	case (name == EthosDir || slices.Contains(protected.DotDirs(), name)), ext == ".d":
		return true
	case dotted, ext != "":
		return false
	}
	return name == strings.ToLower(name) // not Makefile or LICENSE
}
