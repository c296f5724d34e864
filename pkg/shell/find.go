package shell

import "strings"

// find lists find itself, the files that it deletes or writes, and each command that it runs for
// the files that it finds.
func (c *walker) find(inv invocation) {
	f := findExpression(inv.fields[1:])
	c.emit(inv, "find")
	d := c.dirOf(inv)
	for _, out := range f.outputs {
		c.write(c.locate(out, d), "find", opWrite)
	}
	for _, root := range f.roots {
		for _, s := range f.deletes {
			if !(s.holdsNothing() && beneathHere(root)) {
				c.write(c.locate(s.below(root), d), "find", opDelete)
			}
		}
	}
	w := findWrapper("find")
	for _, run := range f.runs {
		c.findCommand(w, inv, f.roots, run)
	}
}

// beneathHere reports whether a path is at or below the working directory.
func beneathHere(f field) bool {
	first, _, _ := strings.Cut(f.text, "/")
	return f.static() && !f.home && first != "" && !strings.Contains("/"+f.text+"/", "/../")
}

// findCommand dispatches one -exec, once for each root and selection. {} stands for what is found.
func (c *walker) findCommand(w *wrapper, inv invocation, roots []field, run findRun) {
	in := *c
	src := *c.src
	src.hole = "{}"
	in.src = &src
	for _, root := range roots {
		for _, s := range run.of {
			fields := make([]field, len(run.command))
			for i, arg := range run.command {
				fields[i] = s.fill(arg, root)
			}
			in.dispatch(inv.inner(w, fields))
		}
	}
}

// foundBy returns the paths that find prints, as far as its arguments determine them, else nil.
func foundBy(args []field) (paths []field) {
	f := findExpression(args)
	for _, root := range f.roots {
		for _, s := range f.prints {
			if s.tested && s.pattern() == "" {
				return nil
			}
			paths = append(paths, s.below(root))
		}
	}
	return paths
}

// selection is a set of files below the roots of find.
type selection struct {
	name        string // a pattern that all their names match; "" if none is known
	dir         string // what all their paths begin with, with a slash at its end; "" if it is not known
	tested      bool   // some files are excluded
	some        bool   // those that a test like -size selects, so not the roots as a whole
	directories bool   // only directories
	empty       bool   // only what is empty
	broken      bool   // only symbolic links that lead nowhere
	spares      bool   // not git's own files, or only what is directly in the root
}

// holdsNothing reports whether nothing is lost with what is selected.
func (s selection) holdsNothing() bool { return s.directories && s.empty || s.broken }

// pattern returns the pattern of the paths below a root; "" stands for the root and all below it.
func (s selection) pattern() string {
	switch {
	case s.name != "":
		return "/**/" + s.name
	case s.some:
		return "/**"
	}
	return ""
}

// below returns the path of what is selected below a root, or a pattern of the paths.
func (s selection) below(root field) field {
	out := root
	out.runs = nil
	out.glob = true
	out.whole = s.pattern() == "" && !s.spares
	if p := s.pattern(); p != "" {
		base := strings.TrimSuffix(root.text, "/")
		if strings.HasPrefix(s.dir, base+"/") && !strings.Contains(s.dir+"/", "/../") {
			base = strings.TrimSuffix(s.dir, "/")
		}
		out.text = base + p
	}
	return out
}

func (s selection) fill(arg, root field) field {
	if !strings.Contains(arg.text, "{}") || strings.ContainsAny(arg.text, " \t\n;&|") {
		return arg
	}
	s.some = s.some || arg.text != "{}"
	found := s.below(root)
	out := arg
	out.text = strings.ReplaceAll(arg.text, "{}", found.text)
	out.whole = found.whole
	out.dyn, out.many, out.runs = true, arg.text == "{}", runs{{offset: arg.at(0), fixed: true}}
	return out
}
