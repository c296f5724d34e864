package explain

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
)

// Failed is what is known about a failed command.
type Failed struct {
	Argv   []string
	Output string // the end of its output
	Read   bool   // the output was read: there was no other output
}

// maxInferred limits the denials for one command, because each reveals to
// whoever chose the output that a path exists outside.
const maxInferred = 5

// Infer infers from the output and the arguments of a failed command what the
// boundary refused it.
func (x *Explainer) Infer(f Failed) (list []record.Denial) {
	paths := x.paths(f)
	for _, d := range x.environment(f.Output) {
		paths = join(paths, d)
	}
	return x.together(slices.Concat(paths, x.names(f.Output), x.services(f), x.calls(f), x.signing(f)))
}

func (x *Explainer) paths(f Failed) (list []record.Denial) {
	named, about := mentions(f.Output)
	for _, m := range named {
		if d, ok := x.inferred(x.absolute(m.path), m); ok {
			list = join(list, d)
		}
		if len(list) == maxInferred {
			break
		}
	}
	if len(list) > 0 || f.Read && about == silent && strings.TrimSpace(f.Output) != "" {
		return list
	}
	for _, arg := range arguments(f.Argv) {
		if d, ok := x.inferred(x.absolute(arg), mention{arg, about, filepath.Base(first(f.Argv))}); ok && len(list) < maxInferred {
			list = join(list, d)
		}
	}
	return list
}

func (x *Explainer) inferred(path string, m mention) (d record.Denial, ok bool) {
	text, about, program := m.path, m.about, m.program
	if relative := !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "~/"); relative && strings.ContainsAny(text, " :") { // a sentence
		return d, false
	}
	n := x.sharpen(Need{Path: path, Write: about&(sealed|making) != 0, Entry: about&removal != 0, Process: program})
	n.Process = ""
	if n.Write {
		if d, ok = x.Denial(n); ok {
			return d, true
		}
	}
	if d, ok = x.Denial(Need{Path: path}); ok || about&refused == 0 {
		return d, ok
	}
	if d, ok = x.Denial(Need{Path: path, Write: true}); ok && d.Kind == record.KindReadOnly {
		return d, true
	}
	return x.fixed(path, about)
}

// fixed returns the directory of a name that was to be created or removed and
// that nothing denies. The names in that directory are fixed because something
// in it has less access: see [plan.Grant].
func (x *Explainer) fixed(path string, about meaning) (d record.Denial, ok bool) {
	if about&(making|removal) == 0 || x.plan.Backend != plan.Landlock || plan.Covering(x.plan.Paths, path).Access != plan.ReadWrite || x.plan.CanMake(path) {
		return d, false
	}
	dir := filepath.Dir(path)
	if info, err := x.files.Lstat(dir); err != nil || !info.IsDir() {
		return d, false
	}
	return record.Denial{
		Layer: "landlock", What: shown(dir), Path: dir, Kind: record.KindReadOnly, Certainty: record.Inferred,
		Reason: "entries directly in it cannot be created, moved or removed: something in it is protected, and Landlock allows only what exists when the run starts",
		Remedy: "create it before the run, or write below an existing directory",
	}, true
}

// join adds a denial, unless the list has one for the same path that says as
// much, or one for a path below it: the words of a name with spaces can name a
// directory above it.
func join(list []record.Denial, d record.Denial) []record.Denial {
	same := func(o record.Denial) bool {
		return mount.Within(o.Path, d.Path) || o.Remedy != "" && o.Kind == d.Kind && mount.Within(d.Path, o.Path)
	}
	if slices.ContainsFunc(list, same) {
		return list
	}
	return append(list, d)
}
