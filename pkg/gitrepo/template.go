package gitrepo

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PlainTemplate reports whether a template directory, which git-init(1) copies into a new
// repository, contains neither hooks nor configuration. It is an allow-list: a description,
// info/exclude, info/attributes, samples of hooks, and their directories; regular files only. A
// path that is not absolute is not plain, because git resolves it in a directory that does not
// exist yet.
func PlainTemplate(dir string) bool {
	if info, err := os.Lstat(dir); !filepath.IsAbs(dir) || err != nil || !info.IsDir() {
		return false
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err == nil && !plainTemplateEntry(rel, entry) {
			err = fs.ErrInvalid
		}
		return err
	}) == nil
}

func plainTemplateEntry(rel string, entry fs.DirEntry) bool {
	switch rel {
	case "hooks", "info", "branches":
		return entry.IsDir()
	case "description", "info/exclude", "info/attributes":
		return entry.Type().IsRegular()
	}
	name, sample := strings.CutPrefix(rel, "hooks/")
	return sample && entry.Type().IsRegular() && strings.HasSuffix(name, ".sample") && !strings.Contains(name, "/")
}
