package facts

import (
	"path"

	"ethos/pkg/protected"
	"ethos/pkg/record"
)

// below adds the credentials that exist below a directory whose whole content is read.
func (w *work) below(u record.PathUse) {
	f := w.files.of(u)
	if u.Op != "read" || !u.Whole || f == nil || f.Resolved == "" {
		return
	}
	for _, c := range protected.Credentials() {
		w.belowHome(u, f.Resolved, c)
	}
	for _, name := range protected.SystemSecrets() {
		w.holds(u, f.Resolved, name)
	}
}

// belowHome adds one credential of a home directory, or those parts of it that hold the secret.
func (w *work) belowHome(u record.PathUse, dir string, c protected.Credential) {
	if w.place.home == "" {
		return
	}
	name := path.Join(w.place.home, c.Path)
	if len(c.Files) == 0 {
		w.holds(u, dir, name)
	}
	for _, part := range c.Files {
		w.holds(u, dir, path.Join(name, part))
	}
}

// holds adds a path if it exists below dir.
func (w *work) holds(u record.PathUse, dir, name string) {
	if name == dir || !within(name, dir) {
		return
	}
	if at := resolve(w.d.opt.Tree, name, true); at.exists {
		w.files.add(u.Op, w.place.shown(name), name, false)
	}
}
