package quarantine

import (
	"io/fs"
	"path/filepath"
	"slices"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/treescan"
)

// PassedBy are directories that package managers and compilers fill and remove, so mounts
// would get in their way there. They are scanned and compared like all others.
var PassedBy = []string{"node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".cache"}

// MostEnvironment is how many mounts the environment files may take that commands leave in a
// tree, together with those that were there. What exceeds it is put aside, so that the next
// run can hide each file by itself, whatever commands do. A plan has room for many more, which
// a person may add.
const MostEnvironment = 256

// EnvFile is an environment file of a tree, or a link with such a name. Its path is not stored,
// because a command can make very many.
type EnvFile struct {
	Dir  *treescan.Dir
	Name string
	Link bool
}

// Path returns the path of the file.
func (f EnvFile) Path() string { return filepath.Join(f.Dir.Path(), f.Name) }

// EnvFiles returns the environment files of a tree that a plan hides. It leaves out those in
// [PassedBy], which belong to others, and those in git directories, where no program looks for
// one.
func EnvFiles(tree *treescan.Tree) (list []EnvFile) {
	ignored := map[*treescan.Dir]bool{}
	for _, p := range tree.Places {
		for _, e := range p.Entries {
			if (e.Type == 0 || e.Type == fs.ModeSymlink) && protected.EnvFile(e.Name) && !ignores(p.Dir, ignored) {
				list = append(list, EnvFile{p.Dir, e.Name, e.Type != 0})
			}
		}
	}
	return list
}

// ignores reports whether the environment files in a directory are left out. It remembers the
// answer, so that each directory is looked at once.
func ignores(dir *treescan.Dir, known map[*treescan.Dir]bool) bool {
	var open []*treescan.Dir
	answer := false
	for at := dir; at.Depth() > 0; at = at.Above() {
		is, met := known[at]
		if !met {
			open = append(open, at)
			is = at.Base() == ".git" || slices.Contains(PassedBy, at.Base())
		}
		if is || met {
			answer = is
			break
		}
	}
	for _, at := range open {
		known[at] = answer
	}
	return answer
}
