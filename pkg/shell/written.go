package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A script may write a file and run it. If the content comes from echo, printf or a here-document
// of this script, the code in it is analysed, also in a copy of the file. Otherwise the file is an
// existing one on disk, whose content is not a fact.

// keepOutput stores what a statement prints as the content of the files that its output is
// redirected to.
func (c *walker) keepOutput(s *syntax.Stmt) {
	for i, r := range s.Redirs {
		appends := r.Op == syntax.AppOut
		if !appends && r.Op != syntax.RdrOut && r.Op != syntax.RdrClob || r.N != nil && r.N.Value != "1" {
			continue
		}
		text, known := field{}, false
		if len(s.Redirs) <= maxRedirects {
			bare := *s
			bare.Redirs = slices.Delete(slices.Clone(s.Redirs), i, i+1)
			text, known = c.printed([]*syntax.Stmt{&bare})
		}
		c.each(r.Word, func(f field) { c.keep(c.locate(f, c.scope.dir()), text, known, appends) })
	}
}

// keep stores the content of a file. A later content does not replace an earlier one, because it is
// unknown which of two arms runs: both are possible then, and so is another one if it is unknown.
// What is appended to unknown content is not all of it.
func (a *analysis) keep(file target, text field, known, appends bool) {
	if file.absolute == "" {
		return
	}
	name := path.Clean(file.absolute)
	old, had := a.written[name]
	if !had && !known || !a.copies(len(old.text)+len(text.text)) {
		return
	}
	var b fieldBuilder
	b.field(old)
	b.field(text)
	all := b.take()
	switch {
	case !had && !appends:
		all = text
	case had && !appends && known && !old.dyn && old.text == text.text:
		all = old
	default:
		all.dyn = all.dyn || !appends || !had || !known
	}
	if a.written == nil {
		a.written = map[string]field{}
	}
	a.written[name] = all
}

// content returns what the script has written into a file.
func (c *walker) content(f field, inv invocation) (field, bool) {
	if len(c.written) == 0 {
		return field{}, false
	}
	return c.writtenTo(c.locate(f, c.dirOf(inv)).absolute)
}

// inFile returns what a file may contain that the script has written. Something else may have
// changed it since, or the script did not come to write it.
func (c *walker) inFile(absolute string) (field, bool) {
	text, known := c.writtenTo(absolute)
	if known {
		c.possible++
	}
	text.dyn = true
	return text, known
}

// writtenTo returns what the script has written into a file, under its name or that of a link that
// the script has made.
func (c *walker) writtenTo(absolute string) (text field, known bool) {
	if absolute == "" || len(c.written) == 0 {
		return field{}, false
	}
	var seen []string
	for name := path.Clean(absolute); len(seen) < maxLinks && !slices.Contains(seen, name); {
		if one, ok := c.written[name]; ok {
			var b fieldBuilder
			b.field(text)
			b.field(one)
			both := known
			text, known = b.take(), true
			text.dyn = text.dyn || both
		}
		seen = append(seen, name)
		if to, ok := c.linked(name); ok {
			name = path.Clean(c.followed(to))
		}
	}
	return text, known && c.copies(len(text.text))
}

// copies counts a content that is kept or used. Beyond the limit it ends the analysis.
func (a *analysis) copies(size int) bool {
	if a.copied += size; a.copied > maxCopies {
		a.halt()
		return false
	}
	return true
}

// altered marks the known content of a file that another program changes as one that it may have.
func (a *analysis) altered(name, op string) {
	if text, known := a.written[name]; known && (op == opWrite || op == opTruncate || op == opAppend) {
		text.dyn = true
		a.written[name] = text
	}
}

// copyContent gives a copy of a file the content of the file.
func (do *doing) copyContent(from, to field) {
	text, known := do.writtenTo(do.locate(from, do.d).absolute)
	do.keep(do.locate(to, do.d), text, known, false)
}

// ownProgram follows a program that the script has written: by its first line, as the kernel does,
// or else as a shell script.
func (c *walker) ownProgram(inv invocation) {
	text, known := c.content(inv.fields[0], inv)
	if !known || strings.IndexByte(inv.fields[0].text, '/') < 0 {
		return
	}
	first, _, _ := strings.Cut(text.text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(words) == 0 {
		words = []string{"sh"}
	}
	if baseName(words[0]) == "env" && len(words) > 1 {
		words = words[1:]
	}
	run := inv
	run.fields = []field{literal(words[0], inv.fields[0].at(0)), inv.fields[0]}
	run.fields = append(run.fields, inv.fields[1:]...)
	if kind, ok := findInterpreter(baseName(words[0])); ok {
		run.silent = kind.shell()
		c.interpret(run, baseName(words[0]), kind)
	}
}
