package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A script may write a file and run it. If the content comes from echo, printf or a here-document
// of this script, the code in it is analysed. Otherwise the file is an existing one on disk, whose
// content is not a fact.

// keepOutput stores what a statement prints as the content of the files that its output is
// redirected to.
func (c *walker) keepOutput(s *syntax.Stmt) {
	for i, r := range s.Redirs {
		appends := r.Op == syntax.AppOut
		if !appends && r.Op != syntax.RdrOut && r.Op != syntax.RdrClob || r.N != nil && r.N.Value != "1" {
			continue
		}
		bare := *s
		bare.Redirs = slices.Delete(slices.Clone(s.Redirs), i, i+1)
		text, known := c.printed([]*syntax.Stmt{&bare})
		c.each(r.Word, func(f field) { c.keep(c.locate(f, c.scope.dir()), text, known, appends) })
	}
}

// keep stores the content of a file. Unknown content replaces known content.
func (a *analysis) keep(file target, text field, known, appends bool) {
	name := path.Clean(file.absolute)
	old, had := a.written[name]
	if appends && known {
		var b fieldBuilder
		b.field(old)
		b.field(text)
		text, known = b.take(), had
	}
	if file.absolute == "" || !known || len(text.text) > maxValue {
		delete(a.written, name)
		return
	}
	if a.written == nil {
		a.written = map[string]field{}
	}
	a.written[name] = text
}

// content returns what the script has written into a file.
func (c *walker) content(f field, inv invocation) (field, bool) {
	if len(c.written) == 0 {
		return field{}, false
	}
	text, known := c.written[path.Clean(c.locate(f, c.dirOf(inv)).absolute)]
	return text, known
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
