package sandbox

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// The walk through a writable tree ends at these bounds; what lies beyond is told in the plan's notes.
const (
	nestedDepth = 4
	nestedDirs  = 512
	nestedRepos = 32
)

// passedBy are directories that hold what package managers unpacked: large, and nobody's place to run git in.
var passedBy = []string{".git", ethosDir, "node_modules", ".venv", "venv", "target", "__pycache__", ".tox", ".cache"}

// walk is one search below a writable root.
type walk struct {
	b           *builder
	root        string
	dirs, repos int
	cut         bool
}

// protectNested guards repositories and settings of agents that lie below a writable root: the user runs git and agents there too.
func (b *builder) protectNested(root string) error {
	w := &walk{b: b, root: root}
	level := []string{root}
	for depth := 0; len(level) > 0; depth++ {
		if depth > nestedDepth {
			w.cut = true
			break
		}
		var next []string
		for _, dir := range level {
			below, err := w.look(dir)
			if err != nil {
				return err
			}
			next = append(next, below...)
		}
		level = next
	}
	if w.cut {
		b.note(root, "repositories and settings of agents were looked for in its first %d levels and %d directories; what lies beyond is not guarded", nestedDepth, nestedDirs)
	}
	return nil
}

// look guards what is in one directory, and returns the directories in it.
func (w *walk) look(dir string) (below []string, err error) {
	if w.dirs++; w.dirs > nestedDirs {
		w.cut = true
		return nil, nil
	}
	entries, err := w.b.files.files.Entries(dir)
	if err != nil {
		return nil, nil // what the caller cannot list the command cannot either
	}
	if dir != w.root && isBare(entries) {
		if err := w.repository(func() error { return w.b.protectGitDir(dir) }); err != nil {
			return nil, err
		}
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type() == fs.ModeSocket {
			w.b.hideSocket(path)
		}
		if dir != w.root {
			if err := w.guard(path, e); err != nil {
				return nil, err
			}
		}
		if e.IsDir() && !slices.Contains(passedBy, e.Name()) {
			below = append(below, path)
		}
	}
	return below, nil
}

// guard makes one entry read-only when it is of the guarded kinds.
func (w *walk) guard(path string, e fs.DirEntry) error {
	switch {
	case slices.Contains(protectedNames, e.Name()):
		return w.b.denyWrite(path, "protected")
	case e.Name() != ".git":
		return nil
	}
	return w.repository(func() error { return w.linked(path, e) })
}

// repository guards one more repository, up to the bound.
func (w *walk) repository(guard func() error) error {
	if w.repos++; w.repos > nestedRepos {
		w.cut = true
		return nil
	}
	return guard()
}

// isBare reports whether a directory of these entries is a git directory itself.
func isBare(entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	return has("HEAD") && has("objects") && has("refs")
}

// linked guards the git directory that .git is or names.
func (w *walk) linked(path string, e fs.DirEntry) error {
	if e.IsDir() {
		return w.b.protectGit(filepath.Dir(path))
	}
	if dir, ok := w.b.pathIn(path, "gitdir: "); ok { // as for a work space, but nothing is opened for it
		common, _ := w.b.pathIn(filepath.Join(dir, "commondir"), "")
		if err := w.b.protectInside(w.root, dir, common); err != nil {
			return err
		}
	}
	return w.b.denyWrite(path, "git link")
}

// isPath reports whether a word of a configuration can be the path of a file.
func isPath(word string) bool { return word != "" && !strings.ContainsAny(word, "\x00\n$`*?") }
