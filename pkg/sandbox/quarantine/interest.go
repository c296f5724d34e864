package quarantine

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/treescan"
)

// ScanOptions are those of a scan of a writable root from which a run can begin:
// [Scope.Scans]. settings are those of [Scope], kept is the path of what ethos
// keeps for itself in the root, memory the file of the memory.
func ScanOptions(settings []string, kept, memory string) treescan.Options {
	inGit := ""
	if kept != "" {
		inGit = filepath.Join(filepath.Dir(kept), keptInGit)
	}
	return treescan.Options{
		Interest:   interest(settings),
		InterestID: "git env own " + strings.Join(settings, " "),
		Skip:       func(path string) bool { return path == kept || path == inGit },
		Memory:     memory,
	}
}

// keptInGit is where the sandbox keeps caches in a work space that has no
// directory of ethos. As a name it is none that a git directory may hold.
const keptInGit = ".git/coding-ethos"

// interest picks what tells a git directory, the names of settings, what no git
// directory may hold, and what the plan hides: environment files, and what ethos
// keeps in a git directory.
func interest(settings []string) func(string, fs.FileMode) bool {
	names := append([]string{".git", "head", "objects", "refs", "commondir", filepath.Base(keptInGit), ".coding-ethos"}, settings...)
	return func(name string, typ fs.FileMode) bool {
		if typ == 0 && len(name) >= 4 && name[0] == '.' && protected.EnvFile(name) {
			return true
		}
		return typ != 0 && typ != fs.ModeDir || slices.ContainsFunc(names, func(want string) bool { return strings.EqualFold(name, want) })
	}
}
