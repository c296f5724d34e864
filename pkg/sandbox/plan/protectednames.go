package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/protected"
)

// protectedNames are the protected names that apply in whatever directory a program is
// started.
var protectedNames = lazy.Value[[]string]{Make: protected.Paths}

// protectNames makes the protected names of a writable root read-only if they exist. It
// records all of them, because one that exists now can be replaced from outside while the
// command runs.
func (b *builder) protectNames(root string) error {
	w := ProtectedNames{Dir: root}
	for _, n := range protected.Names() {
		w.Names = append(w.Names, n.Path)
		path := filepath.Join(root, n.Path)
		p, err := b.files.resolve(path)
		if err != nil {
			return err
		}
		if p.exists || len(p.links) > 0 { // the target of a link must not be created either
			err = b.denyWrite(path, whyProtected)
		} else {
			b.protected = append(b.protected, p)
		}
		if err != nil {
			return err
		}
	}
	b.names = append(b.names, w)
	return nil
}

const whyProtected = "protected"

// creatable returns the protected names under which the command can create something. A
// name of several components is added for its directory as well, once that directory
// exists.
func (b *builder) creatable(entries []Entry) []ProtectedNames {
	list := []ProtectedNames{}
	add := func(dir, name string) {
		at := Covering(entries, filepath.Join(dir, name))
		if Covering(entries, dir).Access != ReadWrite || name == EthosDir && filepath.Base(at.Path) == EthosDir {
			return
		}
		i := slices.IndexFunc(list, func(w ProtectedNames) bool { return w.Dir == dir })
		if i < 0 {
			list, i = append(list, ProtectedNames{Dir: dir}), len(list)
		}
		if !slices.Contains(list[i].Names, name) {
			list[i].Names = append(list[i].Names, name)
		}
	}
	slices.SortFunc(b.names, func(x, y ProtectedNames) int { return strings.Compare(x.Dir, y.Dir) })
	for _, w := range b.names {
		for _, name := range w.Names {
			add(w.Dir, name)
			if above := filepath.Dir(name); above != "." {
				dir := filepath.Join(w.Dir, above)
				if p, err := b.files.resolve(dir); err == nil && p.dir && p.path == dir {
					add(dir, filepath.Base(name))
				}
			}
		}
	}
	return list
}
