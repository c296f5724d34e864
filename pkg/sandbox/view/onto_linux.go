package view

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// Onto returns the view as a view of an empty directory, and the changes that
// create the view's content there: what the command created or changed in a
// root, and the directories that lead to it. Git directories are left out.
func (v *View) Onto(root int, changes []Change, dir string) (*View, []Change, error) {
	if err := v.Exposed(); err != nil {
		return nil, nil, err
	}
	to, err := identify(dir)
	if err != nil {
		return nil, nil, err
	}
	other := &View{Dir: v.Dir, getenv: v.getenv, meta: v.meta}
	other.Roots, other.Closed, other.Hidden, other.Applied = slices.Clone(v.Roots), nil, nil, nil
	from := other.Roots[root].Path
	other.Roots[root] = to
	for _, closed := range v.Closed {
		if rel, ok := strings.CutPrefix(closed, from+"/"); ok {
			other.Closed = append(other.Closed, filepath.Join(dir, rel))
		}
	}
	var kept []Change
	made := map[string]bool{".": true}
	var above func(rel string)
	above = func(rel string) {
		if !made[rel] {
			above(filepath.Dir(rel))
			made[rel] = true
			kept = append(kept, Change{Root: root, Rel: rel, Path: filepath.Join(dir, rel), Op: record.WriteCreated, Type: "directory", Mode: 0o755})
		}
	}
	for _, c := range changes {
		if c.Root != root || c.Op == record.WriteDeleted || c.Rel == "" || repository(c.Path) != "" || made[c.Rel] {
			continue
		}
		above(filepath.Dir(c.Rel))
		made[c.Rel] = c.Type == "directory"
		c.Path, c.Op, c.Was, c.lower, c.since = filepath.Join(dir, c.Rel), record.WriteCreated, "", stamp{}, false
		if c.Link != "" {
			c.Link = filepath.Join(dir, strings.TrimPrefix(c.Link, from+"/"))
		}
		kept = append(kept, c)
	}
	return other, kept, nil
}
