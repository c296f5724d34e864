package facts

import (
	"path"
	"slices"

	"ethos/pkg/record"
	"ethos/pkg/services"
)

// maxShown limits the secrets that are reported for one command.
const maxShown = 8

// services lists what the commands do to services, and the secrets of the environment that they print.
func (w *work) services() (found []record.Service) {
	for i := range w.shell.Commands {
		found = append(found, services.Find(&w.shell.Commands[i], w.worthless)...)
	}
	for _, a := range w.analyses {
		for _, s := range a.Shown {
			for _, name := range s.Variables[:min(len(s.Variables), maxShown)] {
				found = append(found, services.Shown(a.Shell.Commands[s.Command].Name, name))
			}
		}
	}
	return found
}

// worthless reports whether a file is a temporary one of nobody else, and not the name of another
// file: by a link, or by what the script puts in its place.
func (w *work) worthless(file string) bool {
	if !path.IsAbs(file) {
		return false
	}
	at := resolve(w.d.opt.Tree, file, false)
	if at.partial || len(at.links) > 0 || within(at.name, w.place.workspace) || w.place.outside(at.name) {
		return false
	}
	if slices.ContainsFunc(w.shell.Writes, func(u record.PathUse) bool { return u.Op == "link" || u.Op == "move" || u.Op == "mount" }) {
		return false
	}
	return slices.ContainsFunc(temporary[:], func(dir string) bool { return at.name != dir && within(at.name, dir) })
}
