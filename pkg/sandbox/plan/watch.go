package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/protected"
)

// protectedNames are those that count in whatever directory a program is
// started in.
var protectedNames = protected.Single()

// protectNames makes the protected names of a writable root read-only where
// they exist, and has the root watched for all of them: one that exists now can
// be replaced from outside while the command runs.
func (b *builder) protectNames(root string) error {
	w := Watched{Dir: root}
	for _, n := range protected.Names() {
		w.Names = append(w.Names, n.Path)
		path := filepath.Join(root, n.Path)
		p, err := b.files.resolve(path)
		if err != nil {
			return err
		}
		if p.exists || len(p.links) > 0 { // what a link leads to does not come to exist either
			err = b.denyWrite(path, whyProtected)
		} else {
			b.protected = append(b.protected, p)
		}
		if err != nil {
			return err
		}
	}
	b.watched = append(b.watched, w)
	return nil
}

const whyProtected = "protected"

// watches are the directories to be watched of those in which the command can
// make something. A name of several components counts once its directory is
// there: that is watched as well.
func (b *builder) watches(entries []Entry) []Watched {
	list := []Watched{}
	add := func(dir, name string) {
		at := Covering(entries, filepath.Join(dir, name))
		if Covering(entries, dir).Access != ReadWrite || name == EthosDir && filepath.Base(at.Path) == EthosDir {
			return
		}
		i := slices.IndexFunc(list, func(w Watched) bool { return w.Dir == dir })
		if i < 0 {
			list, i = append(list, Watched{Dir: dir}), len(list)
		}
		if !slices.Contains(list[i].Names, name) {
			list[i].Names = append(list[i].Names, name)
		}
	}
	slices.SortFunc(b.watched, func(x, y Watched) int { return strings.Compare(x.Dir, y.Dir) })
	for _, w := range b.watched {
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
