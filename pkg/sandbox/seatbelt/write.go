package seatbelt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/plan"
)

// Scratch is the parameter of a profile for the private directory of the command, which is made
// when the command starts: sandbox-exec -D SCRATCH=/the/directory.
const Scratch = "SCRATCH"

// writer collects the rules of one profile.
type writer struct {
	plan  *plan.Plan
	text  strings.Builder
	fault error // the first path that cannot be expressed
}

// Write returns the profile of a plan. It is a function of the plan alone. The error is a
// [*plan.Refusal].
func Write(p *plan.Plan) (string, error) {
	w := &writer{plan: p}
	w.text.WriteString("(version 1)\n(deny default)\n")
	w.processes()
	w.files()
	w.network()
	w.single()
	return w.text.String(), w.fault
}

// rule writes one rule, with one filter a line. It writes nothing without a filter.
func (w *writer) rule(head string, filters ...string) {
	if len(filters) == 0 {
		return
	}
	fmt.Fprintf(&w.text, "(%s\n  %s)\n", head, strings.Join(filters, "\n  "))
}

// section begins a part of the profile.
func (w *writer) section(what string) { w.text.WriteString("\n; " + what + "\n") }

func (w *writer) filter(kind, path string) string {
	if why := inexpressible(path); why != "" && w.fault == nil {
		w.fault = plan.Refuse(plan.CodeUnsupported, "rename it, or work in another directory", "the backend seatbelt cannot name the path %.200q: %s", path, why)
	}
	return "(" + kind + " " + quoted(path) + ")"
}

// at returns the filters for a path and everything below. Public sources differ on whether subpath
// matches a plain file, so a path that is no directory is also named by itself.
func (w *writer) at(path string, dir bool) []string {
	if dir {
		return []string{w.filter("subpath", path)}
	}
	return []string{w.filter("literal", path), w.filter("subpath", path)}
}

// spelt returns a filter for a path in a granted directory, and with below everything below it, in
// every spelling that a file system may take for the same.
func (w *writer) spelt(path string, below bool) string {
	root := w.root(path)
	end := "$"
	if below {
		end = "($|/)"
	}
	return `(regex #"^` + exactly(root) + folded(strings.TrimPrefix(path, root)) + end + `")`
}

// root returns the outermost granted directory around a path, up to which its spelling is known: a
// path that is spelt otherwise there is not granted.
func (w *writer) root(path string) string {
	for _, e := range w.plan.Paths { // parents come first
		if e.Access != plan.Hidden && e.Path != path && mount.Within(path, e.Path) {
			return e.Path
		}
	}
	return path
}

func (w *writer) access(path string) plan.Access { return plan.Covering(w.plan.Paths, path).Access }

// files writes the access table. The deeper path wins in the table, and the later rule in the
// profile; the table has parents first.
func (w *writer) files() {
	w.section("files: the access table of the plan, in which the deeper path wins")
	for i, e := range w.plan.Paths {
		w.entry(e, w.plan.Paths[:i])
	}
	w.rule("allow file-read* file-write* process-exec* file-map-executable", `(subpath (param "`+Scratch+`"))`)
	w.names()
	for _, path := range w.plan.DenyExec {
		w.rule("deny process-exec* file-map-executable", append(w.at(path, false), w.spelt(path, true))...)
	}
}

// entry writes an entry of the table below others: what changes there.
func (w *writer) entry(e plan.Entry, others []plan.Entry) {
	filters := w.at(e.Path, e.Dir && e.Exists)
	denied := append(slices.Clone(filters), w.spelt(e.Path, true))
	around := plan.Covering(others, e.Path).Access
	switch {
	case e.Access == plan.ReadWrite:
		w.rule("allow file-read* file-write* process-exec* file-map-executable", filters...)
	case e.Access == plan.ReadOnly && around == plan.ReadWrite:
		w.rule("deny file-write*", denied...)
	case e.Access == plan.ReadOnly:
		w.rule("allow file-read* process-exec* file-map-executable", filters...)
	case around != plan.Hidden:
		w.rule("deny file-read* file-write* process-exec* file-map-executable", denied...)
	}
}

func (w *writer) names() {
	for _, n := range w.plan.ProtectedNames {
		for _, name := range n.Names {
			path := filepath.Join(n.Dir, name)
			if w.access(path) == plan.ReadWrite {
				w.rule("deny file-write*", append(w.at(path, false), w.spelt(path, true))...)
			}
		}
	}
}

// single writes the rules for single operations, which come after those for groups.
func (w *writer) single() {
	w.section("names on the way to what is granted; their content is not")
	var names []string
	for _, path := range w.ways() {
		names = append(names, w.filter("literal", path))
	}
	w.rule("allow file-read-metadata", names...)
	w.section("directories around protected paths stay where they are")
	for _, path := range w.pinned() {
		filters := []string{w.filter("literal", path)}
		if w.root(path) != path {
			filters = append(filters, w.spelt(path, false))
		}
		w.rule("deny file-write-unlink file-write-create", filters...)
	}
	w.section("no set-user-ID and set-group-ID bits")
	w.rule("deny file-write-setugid", w.filter("subpath", "/"))
}

// ways returns the directories above everything that is granted, and the links in the root of macOS.
func (w *writer) ways() []string {
	list := slices.Clone(rootLinks)
	for _, e := range w.plan.Paths {
		if e.Access != plan.Hidden {
			list = append(list, above(e.Path)...)
		}
	}
	list = append(list, "/dev")
	slices.Sort(list)
	return slices.Compact(list)
}

func above(path string) (list []string) {
	for path != "/" {
		path = filepath.Dir(path)
		list = append(list, path)
	}
	return list
}

// pinned returns the directories that the command must neither move away nor put in place, because
// a protected path is in them or will be, and the roots of what is writable.
func (w *writer) pinned() []string {
	var list []string
	around := func(path string) {
		for _, dir := range above(path) {
			if w.access(dir) == plan.ReadWrite {
				list = append(list, dir)
			}
		}
	}
	for _, e := range w.plan.Paths {
		if around(e.Path); e.Access == plan.ReadWrite {
			list = append(list, e.Path)
		}
	}
	for _, n := range w.plan.ProtectedNames {
		for _, name := range n.Names {
			around(filepath.Join(n.Dir, name))
		}
	}
	for _, path := range w.plan.DenyExec {
		around(path)
		if w.access(path) == plan.ReadWrite {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
