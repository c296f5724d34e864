package planted

import (
	"os"
	"path/filepath"

	"ethos/pkg/gitrepo"
)

// repository looks at the git directory of a work tree, if it has one.
func (l *Look) repository(tree string) {
	dot := filepath.Join(tree, ".git")
	info, err := os.Lstat(dot)
	if err != nil {
		return
	}
	if info.Mode().IsRegular() {
		target, err := gitrepo.GitFile(dot)
		if err != nil {
			return // nor does git go on from there
		}
		dot = target
	}
	l.gitDir(dot, tree)
}

// gitDir looks at a git directory, at the one that it shares parts with, and at the repositories that its index names.
func (l *Look) gitDir(dir, tree string) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || l.seen[dir] || len(l.seen) >= maxRepositories {
		return
	}
	l.seen[dir] = true
	common, shared := commonDir(dir)
	if shared {
		l.gitDir(common, "")
	}
	l.config(filepath.Join(dir, "config"), dir)
	l.config(filepath.Join(dir, "config.worktree"), dir)
	l.hooks(dir)
	l.unfinished(dir)
	for _, work := range worktrees(dir) {
		l.config(filepath.Join(work, "config.worktree"), work)
		l.unfinished(work)
	}
	if tree == "" {
		return
	}
	for _, link := range l.gitlinks(dir, common) {
		l.repository(filepath.Join(tree, link))
	}
}

// commonDir is gitrepository-layout(5), commondir; dir itself when there is none.
func commonDir(dir string) (common string, shared bool) {
	text, err := gitrepo.Pointer(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir, false
	}
	if !filepath.IsAbs(text) {
		text = filepath.Join(dir, text)
	}
	return text, true
}

// worktrees are the git directories of linked work trees.
func worktrees(dir string) []string {
	list, _ := filepath.Glob(filepath.Join(escape(dir), "worktrees", "*"))
	return list
}

// escape makes a path a pattern that matches itself alone.
func escape(path string) string {
	out := make([]byte, 0, len(path))
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}

// isGitDir is the look of a bare repository: setup.c, is_git_directory.
func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// indexed lists what the roots' indexes name.
func (l *Look) indexed() map[string][]string {
	found := map[string][]string{}
	for _, root := range l.Roots {
		dir, err := filepath.EvalSymlinks(filepath.Join(root, ".git"))
		if err != nil {
			continue
		}
		if links, err := gitrepo.Gitlinks(dir, dir); err == nil {
			found[dir] = links
		}
	}
	return found
}

// gitlinks are the repositories in an index: as read while the command ran, when it has not changed since the start. A file that is no index names none for git either.
func (l *Look) gitlinks(dir, common string) []string {
	if links, ok := l.links()[dir]; ok && !l.changed(filepath.Join(dir, "index")) {
		return links
	}
	links, _ := gitrepo.Gitlinks(dir, common)
	return links
}
