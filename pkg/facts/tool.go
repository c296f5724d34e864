package facts

import (
	"path"
	"slices"

	"ethos/pkg/catalog"
	"ethos/pkg/catalog/shipped"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// match is the result of matching an action with the tools of a catalog.
type match struct {
	tool *catalog.Tool
	form shipped.Form
	sole bool // nothing but this tool runs
	// parts are the tools of a script that runs only installed programs of the catalog. It is empty
	// if anything else runs.
	parts []string
}

// match finds the tool of a command. If several commands run, the result is the first one that
// needs the network, so that the need is visible; the tool is then not the sole one and nothing is
// granted for it.
func (w *work) match(from *catalog.Catalog) match {
	var found, reaching match
	var parts []string
	sole, plain, whole := w.readInFull(), true, w.shell.IR != "" && w.shell.Parsed && !w.shell.Unresolved && !w.shell.DepthExceeded
	for i := range w.shell.Commands {
		c := &w.shell.Commands[i]
		if w.confines(c) {
			plain = plain && len(c.Assignments) == 0
			continue
		}
		whole = whole && len(c.Assignments) == 0
		if beside(c) {
			plain = plain && shipped.Inert(c.Name)
			continue
		}
		t, form, ok := from.Match(words(c))
		whole = whole && ok && !c.Opaque && !c.Background && catalog.Installed(c.Path)
		parts = append(parts, t.ID)
		switch {
		case !ok || c.Opaque || c.Background:
			sole = false
		case found.tool == nil:
			found = match{tool: &t, form: form}
		case found.tool.ID != t.ID:
			sole = false
		}
		plain = plain && len(c.Assignments) == 0
		if ok && reaching.tool == nil && t.Capabilities.RequiresNetwork {
			reaching = match{tool: &t, form: form}
		}
	}
	if !whole {
		parts = nil
	}
	switch {
	case found.tool != nil && sole && (plain || !w.reaches(found.tool)):
		found.sole = true
		return found
	case reaching.tool != nil:
		reaching.parts = parts
		return reaching
	}
	return match{parts: parts}
}

// confines reports whether a call of ethos-sandbox only puts a boundary around the command that it
// runs, in the form that ethos-decide --confine writes. The effective capabilities are then those
// of that command.
func (w *work) confines(c *record.Command) bool {
	return slices.ContainsFunc(w.calls, func(call shell.EthosCall) bool {
		name := call.Args.Name()
		return call.Args.Program == "ethos-sandbox" && (name == "run" || name == "shell") && len(call.Args.Unknown) == 0 &&
			call.Command.Name == c.Name && call.Command.Line == c.Line && call.Command.Column == c.Column && !call.Cleared && !c.Background &&
			(catalog.Installed(c.Path) || slices.Contains(w.d.opt.Programs, path.Dir(c.Path)))
	})
}

// beside reports whether a program only reads a tool's output or prepares its run. A program in the
// work space never counts, whatever its name.
func beside(c *record.Command) bool {
	return shipped.Companion(c.Name) && catalog.Installed(c.Path) && !c.Opaque
}

// readInFull reports whether every command is known and none redirects into a file, which a tool's
// own profile may not allow.
func (w *work) readInFull() bool {
	s := &w.shell
	redirected := slices.ContainsFunc(s.Writes, func(u record.PathUse) bool { return u.By == "redirect" })
	return s.IR != "" && s.Parsed && !s.Unresolved && !redirected
}

// reaches reports whether a tool is given network access. If it is, no program beside it may start
// another program, and no variable may lead it to other code.
func (w *work) reaches(t *catalog.Tool) bool {
	return w.config.Connects(t.ID) || t.Managed && t.Capabilities.RequiresNetwork
}

// words returns the words of a command as written, because the path by which a program is called
// decides whether it is a tool with network access.
func words(c *record.Command) []*string {
	if len(c.Argv) == 0 || c.Argv[0] == nil || c.Path == "" {
		return c.Argv
	}
	return append([]*string{&c.Path}, c.Argv[1:]...)
}
