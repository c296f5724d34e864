package planted

import (
	"os"
	"path/filepath"
	"slices"
)

// walk looks for repositories in the directories that changed since the start: a directory changes when something is made in it.
func (l *Look) walk() {
	known := make(map[string]bool, len(l.Walked))
	for _, dir := range l.Walked {
		known[dir] = true
	}
	for _, dir := range l.Walked {
		if l.changed(dir) {
			l.directory(dir, known)
		}
	}
}

// directory looks at one directory, and at those that came into it.
func (l *Look) directory(dir string, known map[string]bool) {
	if l.budget--; l.budget < 0 {
		l.note(Finding{Path: dir, What: "the search for repositories ended here: so many directories were made", Err: errTooMany})
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
	}
	if has(".git") {
		l.repository(dir)
	}
	if has("HEAD") && has("objects") && has("refs") {
		l.gitDir(dir, "")
	}
	for _, e := range entries {
		below := filepath.Join(dir, e.Name())
		if e.IsDir() && !known[below] && !l.PassedBy(e.Name()) && l.changed(below) {
			l.directory(below, known)
		}
	}
}
