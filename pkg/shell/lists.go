package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A command that deletes the names of a list is judged by the list: see [Options.List].

// deletes reports whether a word is a program that deletes its operands, or is code that contains
// one.
func deletes(words []field) bool {
	for _, f := range words {
		for word := range strings.FieldsFuncSeq(f.text, func(r rune) bool { return !('a' <= r && r <= 'z') }) {
			if traitOf(word, traitDeleter) {
				return true
			}
		}
	}
	return false
}

func (c *walker) listFile(name field, inv invocation) feed {
	return feed{kind: feedFile, file: c.locate(name, c.dirOf(inv)).absolute, text: field{offset: name.at(0)}}
}

// namesFor returns the feed from which a command reads names. For a command that deletes them it
// has the text of the list, if that is known.
func (c *walker) namesFor(input feed, command []field) feed {
	if !deletes(command) {
		return input
	}
	return c.namesIn(input)
}

func (c *walker) namesIn(input feed) feed {
	files := []string{input.file}
	at := input.text.offset
	if input.kind == feedPipe {
		if files, at = input.in.copied(input.stmt); files == nil {
			return input
		}
	} else if input.kind != feedFile {
		return input
	}
	var text strings.Builder
	for _, name := range files {
		part, ok := c.list(name)
		if !ok || text.Len()+len(part) > maxScript {
			return input
		}
		text.WriteString(part)
	}
	return feed{kind: feedString, text: field{text: text.String(), offset: at, runs: runs{{offset: at, fixed: true}}}}
}

// copied returns the files that a statement copies to its output: cat FILE….
func (c *walker) copied(s *syntax.Stmt) (files []string, at int) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || len(call.Assigns) > 0 || !onlyQuiet(s.Redirs) {
		return nil, 0
	}
	e := eval{c: c, frozen: true}
	fields := e.words(call.Args)
	if len(fields) < 2 || !fields[0].static() || baseName(fields[0].text) != "cat" {
		return nil, 0
	}
	for _, f := range fields[1:] {
		if isOption(f) {
			return nil, 0
		}
		files = append(files, c.locate(f, c.scope.dir()).absolute)
	}
	return files, fields[1].at(0)
}

// list returns the text of a file of names: what the script has written there, else the content on
// disk if the script does not change it.
func (c *walker) list(name string) (string, bool) {
	if name == "" || c.opt.List == nil {
		return "", false
	}
	name = path.Clean(name)
	if text, ok := c.written[name]; ok {
		return text.text, !text.dyn
	}
	for _, w := range c.writes {
		if w.Op == opDelete {
			continue
		}
		if w.absolute == "" || path.Clean(w.absolute) == name || strings.HasPrefix(name, path.Clean(w.absolute)+"/") {
			return "", false
		}
	}
	return c.opt.List(name)
}

// lists reports whether an input is the output of programs that list files, possibly filtered, or
// text of the script.
func (c *walker) lists(input feed) bool {
	switch input.kind {
	case feedPipe:
		if listing([]*syntax.Stmt{input.stmt}) {
			return true
		}
		before := input.in.stdin
		return before.kind == feedPipe && filters(input.stmt) && c.lists(before)
	case feedProcess:
		return listing(input.stmts)
	case feedFile:
		return false
	}
	return true
}

// filters reports whether a statement is a program that passes on lines or parts of lines.
func filters(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return false
	}
	return traitOf(baseName(call.Args[0].Lit()), traitFilter)
}

// alienParam reports whether an expansion consists of words from an unknown input: "$@" and "$1" of
// sh -c after xargs.
func (c *walker) alienParam(pe *syntax.ParamExp) bool {
	if pe.Param == nil || !isList(pe) && (pe.Param.Value == "" || pe.Param.Value[0] < '0' || pe.Param.Value[0] > '9') {
		return false
	}
	p := c.scope.positional()
	return p.zero.alien || slices.ContainsFunc(p.args, func(f field) bool { return f.alien })
}

// listing reports whether statements begin with a program that lists files.
func listing(stmts []*syntax.Stmt) bool {
	found := false
	for _, s := range stmts {
		switch cmd := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			found = listing([]*syntax.Stmt{cmd.X}) && (isPipe(cmd) || listing([]*syntax.Stmt{cmd.Y}))
		case *syntax.Subshell:
			found = listing(cmd.Stmts)
		case *syntax.Block:
			found = listing(cmd.Stmts)
		case *syntax.CallExpr:
			found = len(cmd.Args) == 0 || lister(cmd.Args)
		default:
			found = false
		}
		if !found {
			return false
		}
	}
	return found
}

// lister reports whether a command prints the names of existing files, or text of the script.
func lister(args []*syntax.Word) bool {
	name := baseName(args[0].Lit())
	if traitOf(name, traitListerIfAsked) {
		return slices.ContainsFunc(args[1:], func(w *syntax.Word) bool {
			text := w.Lit()
			return strings.HasPrefix(text, "--files") || len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.ContainsAny(text, "lL")
		})
	}
	return traitOf(name, traitLister)
}

// fewer reduces many words to those that are not plain names below the working directory, and one
// that stands for all others.
func fewer(words []field) []field {
	some := field{text: "{}", dyn: true, many: true, offset: words[0].at(0)}
	var kept []field
	for _, f := range words {
		if f.static() && plainName(f.text) {
			continue
		}
		if kept = append(kept, f); len(kept) == maxAlts {
			some.alien = true
			return []field{some}
		}
	}
	return append(kept, some)
}

// plainName reports whether a path does not lead up or out of the directory, or to a hidden file.
func plainName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || part[0] == '~' || part[0] == '-' {
			return false
		}
	}
	return !strings.ContainsAny(name, "*?[")
}
