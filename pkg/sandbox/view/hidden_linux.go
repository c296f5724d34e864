package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Hide records, before the start of a command that may mount, which files are
// hidden from it in the view. In a mount namespace of its own, without the
// mount that hides a file, the command can give the file another name. Inside,
// the mount moves along; without the boundary the new name would show what was
// hidden: see Exposed.
func (v *View) Hide(paths []string) error {
	n := len(v.Hidden)
	for _, path := range paths {
		if _, _, ok := v.locate(path); ok && !slices.Contains(v.Hidden, path) {
			v.Hidden = append(v.Hidden, path)
		}
	}
	if len(v.Hidden) == n {
		return nil
	}
	return v.Save()
}

// Exposed returns an error if something hidden may have another name in the
// view. Moving or linking a file of the lower layer leaves an entry in the
// upper layer at the file's path, or at a directory above it. Otherwise a
// hidden file has no such entry.
func (v *View) Exposed() error {
	for _, path := range v.Hidden {
		root, rel, ok := v.locate(path)
		if !ok {
			continue
		}
		touched, err := v.touched(root, rel)
		if err != nil {
			return err
		}
		if touched {
			return fmt.Errorf("a command moved %s, which was hidden from it, within the view, and its new name there is not known: make a new view, and remove this one", path)
		}
	}
	return nil
}

func (v *View) locate(path string) (root int, rel string, ok bool) {
	for i, r := range v.Roots {
		if rel, ok = strings.CutPrefix(path, r.Path+"/"); ok {
			return i, rel, true
		}
	}
	return 0, "", false
}

// touched reports whether the upper layer has anything at a path except
// directories merged with those below.
func (v *View) touched(root int, rel string) (bool, error) {
	dir, err := openDir(unix.AT_FDCWD, v.Upper(root))
	if err != nil {
		return false, err
	}
	defer dir.Close()
	for _, name := range strings.Split(filepath.Clean(rel), "/") {
		u, err := stampOf(int(dir.Fd()), name)
		if err != nil || !isDir(u) {
			return u.there, err
		}
		next, err := forced(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY, u.Mode)
		if err != nil {
			return false, err
		}
		defer next.Close()
		defer searchable(next, u.Mode)()
		if _, opaque, err := isOpaque(next); opaque || err != nil {
			return opaque, err
		}
		dir = next
	}
	return false, nil
}
