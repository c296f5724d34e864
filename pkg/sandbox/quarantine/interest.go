package quarantine

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/sandbox/treescan"
)

// ScanOptions returns the options for a scan of a writable root that a run can
// start from: [Scope.Scans]. settings are those of [Scope], kept is the path of
// ethos's own directory in the root, and memory is the scan cache file.
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
		Spares:     worthWriting,
	}
}

// worthWriting is how many directories are listed in the time that writing a
// memory takes. The directories of a small work space change with each run.
const worthWriting = 64

// keptInGit is where the sandbox keeps caches in a workspace without a
// directory of ethos. Git gives no file in a git directory this name.
const keptInGit = ".git/coding-ethos"

// interest selects the names that a scan reports: those that identify a git
// directory, the names of settings in the directory that they are in, names that
// no git directory may hold, and what the plan hides: environment files, and
// ethos's own directory in a git directory.
func interest(settings []string) func(string, fs.FileMode) bool {
	names := []string{".git", "head", "objects", "refs", "commondir", filepath.Base(keptInGit), ".coding-ethos"}
	for _, path := range settings {
		names = append(names, filepath.Base(path))
	}
	return func(name string, typ fs.FileMode) bool {
		if typ == 0 && len(name) >= 4 && name[0] == '.' && protected.EnvFile(name) {
			return true
		}
		return typ != 0 && typ != fs.ModeDir || slices.ContainsFunc(names, func(want string) bool { return strings.EqualFold(name, want) })
	}
}
