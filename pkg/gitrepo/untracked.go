package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// untracked walks the work tree for files that the index does not have.
func (l *treeLook) untracked(at ignores) error {
	tracked, dirs := map[string]bool{}, map[string]bool{"": true}
	for i := range l.entries {
		name := l.entries[i].name
		tracked[name] = true
		for dir := path.Dir(name); dir != "." && !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	w := &untrackedWalk{treeLook: l, tracked: tracked, dirs: dirs}
	for _, pattern := range l.q.Except {
		if p, ok := parseIgnore(pattern); ok {
			w.except.patterns = append(w.except.patterns, p)
		}
	}
	return w.dir("", at, false, 0)
}

// Untracked returns those of some paths, relative to the root, that are not in the index. A split
// index is an error.
func (r *Repository) Untracked(paths []string) (left []string, err error) {
	l := &treeLook{r: r, objects: openObjects(r.Record.CommonDir)}
	defer l.objects.close()
	if err := l.readIndex(); err != nil {
		return nil, err
	}
	tracked := map[string]bool{}
	for i := range l.entries {
		tracked[l.entries[i].name] = true
	}
	for _, p := range paths {
		if !tracked[p] {
			left = append(left, p)
		}
	}
	return left, nil
}

type untrackedWalk struct {
	*treeLook
	tracked, dirs map[string]bool
	except        ignoreFile
}

// done reports whether nothing more can be found.
func (w *untrackedWalk) done() bool {
	return (!w.q.Untracked || slices.Contains(w.kinds, WorkUntracked)) && (w.q.Ignored == nil || slices.Contains(w.kinds, WorkIgnored))
}

// dir walks a directory. Everything in an ignored directory is ignored, whatever other patterns
// say: gitignore(5).
func (w *untrackedWalk) dir(dir string, at ignores, within bool, depth int) error {
	items, err := os.ReadDir(filepath.Join(w.root, dir))
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.visited += len(items); w.visited > maxVisited || depth > 200 {
		return fmt.Errorf("list the untracked files: %w", ErrTooLarge)
	}
	if name := path.Join(dir, ".gitignore"); !w.q.Strict || w.tracked[name] {
		at = append(slices.Clip(at), readIgnore(filepath.Join(w.root, name), dir))
	}
	for _, item := range items {
		if w.done() {
			return nil
		}
		if item.Name() == ".git" {
			if w.q.Strict && dir != "" {
				w.found(WorkUntracked)
			}
			continue
		}
		if err := w.item(path.Join(dir, item.Name()), item.IsDir(), at, within, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *untrackedWalk) item(name string, isDir bool, at ignores, within bool, depth int) error {
	if w.tracked[name] {
		if w.q.Strict && isDir && occupied(filepath.Join(w.root, name, ".git")) { // a submodule that is checked out
			w.found(WorkUntracked)
		}
		return nil
	}
	if _, stays := w.except.match(name, isDir); stays {
		return nil
	}
	ignored := within || at.ignored(name, isDir)
	if isDir {
		switch {
		case ignored && !w.dirs[name], !w.dirs[name] && !w.q.Dirs && w.limits == nil:
			return nil
		case !w.q.Nested && !w.dirs[name] && occupied(filepath.Join(w.root, name, ".git")):
			return nil
		}
		return w.dir(name, at, ignored, depth+1)
	}
	switch {
	case !w.named(name):
	case ignored && w.q.Ignored != nil && w.q.Ignored(name):
		w.found(WorkIgnored)
	case !ignored && w.q.Untracked:
		w.found(WorkUntracked)
	}
	return nil
}

// occupied reports whether a name exists, as any type of file.
func occupied(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
