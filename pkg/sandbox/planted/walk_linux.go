package planted

import (
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// walk looks for repositories in the directories that changed since the start: a directory changes when something is made in it.
func (l *Look) walk() {
	var known map[string]bool
	for _, dir := range l.Walked {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) != nil || !l.after(st.Ctim) {
			continue
		}
		if known == nil {
			known = set(l.Walked)
		}
		l.directory(dir, known)
	}
}

func set(list []string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, s := range list {
		all[s] = true
	}
	return all
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
