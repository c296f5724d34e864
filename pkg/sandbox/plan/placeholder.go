package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/kernel/mount"
)

// Placeholder is a path in a writable directory that the command must not be
// able to create: a part of a git directory, or what a person denies by its name.
// Only what exists can be mounted over, so an empty file or directory stands
// there for the time of the run, and for commondir a file that names the
// directory itself. It is gone when the last run that shares it has ended. Names
// that are protected in the work tree have none, see [ProtectedNames].
type Placeholder struct {
	Path    string `json:"path"`
	Dir     bool   `json:"dir"`
	Content string `json:"content,omitempty"`
}

// ProtectedNames are those of one directory. What exists of them when the plan is
// made is read-only. Nothing stands in the place of the others: a listing shows
// what it showed before. What the command makes under such a name is put aside at
// once, by the process that started it.
type ProtectedNames struct {
	Dir   string   `json:"dir"`
	Names []string `json:"names"` // relative, clean
}

// GitConfiguration is why an entry of a git directory is protected.
const GitConfiguration = "git configuration"

// Protective lists what must exist to be held: the placeholders, and what was there already when the plan was made.
func (p *Plan) Protective() []Placeholder {
	list := slices.Clone(p.Placeholders)
	for i, e := range p.Paths {
		if !Protective(p.Paths[:i+1], e) {
			continue
		}
		if !slices.ContainsFunc(list, func(g Placeholder) bool { return g.Path == e.Path }) {
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

// Placeholder is what stands for a path on the way to the entry: a directory for
// each on the way, and for the last a file where a file would have its name.
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

// dotDirs are names with a dot in front that directories have; all others of
// that kind are taken for files.
var dotDirs = []string{
	EthosDir, ".aws", ".azure", ".cache", ".cargo", ".circleci", ".config", ".devcontainer", ".docker", ".git", ".github", ".gitlab", ".gnupg",
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
