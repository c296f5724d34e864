package facts

import (
	"path"
	"slices"

	"ethos/pkg/catalog"
	"ethos/pkg/catalog/shipped"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// match is the tool that an action is.
type match struct {
	tool *catalog.Tool
	form shipped.Form
	sole bool // nothing but this tool runs
	// parts are the tools of a script that runs nothing but installed programs
	// of the catalog; none where something else runs.
	parts []string
}

// match finds the tool of a command. Where several commands run, the first that needs the network stands for them, so that the need shows; it is not the sole
// one then, and nothing is given for it.
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

// confines reports a call of ethos-sandbox that only puts a boundary around
// the command that it runs, as ethos-decide --confine writes it: what is in
// force is then that command's.
func (w *work) confines(c *record.Command) bool {
	return slices.ContainsFunc(w.calls, func(call shell.EthosCall) bool {
		name := call.Args.Name()
		return call.Args.Program == "ethos-sandbox" && (name == "run" || name == "shell") && len(call.Args.Unknown) == 0 &&
			call.Command.Name == c.Name && call.Command.Line == c.Line && call.Command.Column == c.Column && !call.Cleared && !c.Background &&
			(catalog.Installed(c.Path) || slices.Contains(w.d.opt.Programs, path.Dir(c.Path)))
	})
}

// beside reports a program that only looks at a tool's output, or sets the scene. One of the work space is none, whatever its name.
func beside(c *record.Command) bool {
	return shipped.Companion(c.Name) && catalog.Installed(c.Path) && !c.Opaque
}

// readInFull reports that every command is known, and that nothing is redirected into a file, which a tool's own profile may not allow.
func (w *work) readInFull() bool {
	s := &w.shell
	redirected := slices.ContainsFunc(s.Writes, func(u record.PathUse) bool { return u.By == "redirect" })
	return s.IR != "" && s.Parsed && !s.Unresolved && !redirected
}

// reaches reports a tool that will be given network access: then nothing beside it may start a program, and no variable may lead it to other code.
func (w *work) reaches(t *catalog.Tool) bool {
	return w.config.Connects(t.ID) || t.Managed && t.Capabilities.RequiresNetwork
}

// words is the command as written: the path it is called by decides whether a tool with network access is meant.
func words(c *record.Command) []*string {
	if len(c.Argv) == 0 || c.Argv[0] == nil || c.Path == "" {
		return c.Argv
	}
	return append([]*string{&c.Path}, c.Argv[1:]...)
}
