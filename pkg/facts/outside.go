package facts

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/protected"
	"ethos/pkg/record"
)

// temporary are the directories for temporary files.
var temporary = [...]string{"/tmp", "/var/tmp", "/dev/shm", "/private/tmp"}

// outside reports whether a path belongs to somebody else: it is not in the work space, a temporary
// directory, a cache or among the devices. The directories around a work space do not count as
// temporary.
func (p place) outside(name string) bool {
	if name == "" || within(name, p.workspace) || within(name, "/dev") || within(name, "/proc") {
		return false
	}
	for _, dir := range protected.Caches() {
		if rest, home := strings.CutPrefix(dir, "~"); home {
			if p.home == "" {
				continue
			}
			dir = p.home + rest
		}
		if within(name, dir) {
			return false
		}
	}
	for _, dir := range temporary {
		if name == dir || !within(name, dir) {
			continue
		}
		around := path.Dir(p.workspace)
		return around != dir && within(around, dir) && (within(name, around) || within(p.workspace, name))
	}
	return true
}

// into reports whether an operation puts something into a directory for temporary files, as cp does that
// is given the directory alone.
func into(op, name string) bool {
	return (op == "write" || op == "link") && slices.Contains(temporary[:], name)
}

// gitMayChange reports whether a path outside of the work space is one that only git changes and
// that belongs to nobody else: a linked work tree of the repository, because `git worktree remove`
// removes none with changes in it, or a new file beside the work space, such as that of `git bundle
// create`.
func (w *work) gitMayChange(u record.PathUse, uses []record.PathUse) bool {
	same := func(other record.PathUse) bool { return other.By != "git" && other.Op == u.Op && other.Path == u.Path }
	if u.By != "git" || slices.ContainsFunc(uses, same) {
		return false
	}
	f := w.files.of(u)
	if f == nil || !f.Outside || f.ViaSymlink {
		return false
	}
	if !f.Exists {
		around := path.Dir(w.place.workspace)
		return u.Op == "write" && around != "/" && within(f.Resolved, around)
	}
	forced := func(word *string) bool { return word == nil || strings.HasPrefix(*word, "-") }
	other := func(g record.Git) bool {
		return g.Subcommand == "rm" || g.Subcommand == "clean" || g.Subcommand == "worktree" && slices.ContainsFunc(g.Args, forced)
	}
	if u.Op != "delete" || slices.ContainsFunc(w.git, other) {
		return false
	}
	linked := w.d.repos.at(f.Resolved).Record
	return linked.CommonDir != "" && linked.CommonDir == w.repo.Record.CommonDir && linked.Root == f.Resolved
}

// of returns the file of a use, or nil.
func (f *fileFacts) of(u record.PathUse) *record.File {
	i := slices.IndexFunc(f.files, func(file record.File) bool { return file.Op == u.Op && file.Path == u.Path })
	if i < 0 {
		return nil
	}
	return &f.files[i]
}

// followed adds where paths lead that go through a symbolic link, so that whatever is true of the
// target's own name is true of them.
func (w *work) followed(uses []record.PathUse) []record.PathUse {
	for _, u := range uses[:len(uses):len(uses)] {
		f := w.files.of(u)
		if f == nil || !f.ViaSymlink {
			continue
		}
		same := func(other record.PathUse) bool { return other.Op == u.Op && other.By == u.By && other.Path == u.Path }
		u.Path, u.ViaSymlink = w.place.shown(f.Resolved), true
		if !slices.ContainsFunc(uses, same) {
			uses = append(uses, u)
		}
	}
	return uses
}

// shown returns an absolute path as a record shows it: relative to the work space, or to the home
// directory.
func (p place) shown(name string) string {
	switch {
	case name == p.workspace:
		return "."
	case within(name, p.workspace):
		return strings.TrimPrefix(name[len(p.workspace):], "/")
	case p.home != "" && within(name, p.home):
		return "~" + name[len(p.home):]
	}
	return name
}

// inside marks the file of a use as inside of the work space.
func (f *fileFacts) inside(u record.PathUse) { f.of(u).Outside = false }

// outsideUse judges a path that a command changes by its resolved target, or, if that is not known,
// by the static part of the path.
func (p place) outsideUse(u record.PathUse, files []record.File) bool {
	if u.Certain {
		for i := range files {
			if files[i].Op == u.Op && files[i].Path == u.Path {
				return files[i].Outside
			}
		}
		return false
	}
	known := u.Path
	if at := strings.IndexAny(known, "*?[{$`"); at >= 0 {
		known = known[:strings.LastIndexByte(known[:at], '/')+1]
	}
	switch {
	case strings.HasPrefix(known, "~/") && p.home != "":
		known = p.home + known[1:]
	case strings.HasPrefix(known, "../"):
		known = path.Join(p.workspace, known)
	}
	known = path.Clean(known)
	return path.IsAbs(known) && known != "/" && !within(p.workspace, known) && p.outside(known)
}
