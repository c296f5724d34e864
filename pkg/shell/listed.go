package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// listed returns the names that a program lists, as far as the script determines them.
func (c *walker) listed(input feed) []alt {
	switch {
	case input.kind == feedPipe && filters(input.stmt):
		return slices.DeleteFunc(c.listed(input.in.stdin), everything)
	case input.kind == feedPipe:
		return input.in.listedBy(input.stmt)
	case input.kind == feedProcess && len(input.stmts) == 1:
		return input.in.listedBy(input.stmts[0])
	}
	return input.names
}

func (c *walker) listedBy(s *syntax.Stmt) (names []alt) {
	if !onlyQuiet(s.Redirs) {
		return nil
	}
	if pipe, ok := s.Cmd.(*syntax.BinaryCmd); ok && isPipe(pipe) && filters(pipe.Y) {
		return slices.DeleteFunc(c.listedBy(pipe.X), everything)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || len(call.Assigns) > 0 {
		return nil
	}
	e := eval{c: c, frozen: true}
	fields := e.words(call.Args)
	if len(fields) == 0 || fields[0].uncertainHead() {
		return nil
	}
	switch baseName(fields[0].text) {
	case "ls":
		return listedByLs(fields[1:])
	case "find":
		for _, f := range foundBy(fields[1:]) {
			names = addAlt(names, alt{text: f.text, dyn: true, names: true, whole: f.whole})
		}
	case "git":
		if listsTracked(fields[1:]) {
			return []alt{someNames(".")}
		}
	case "echo":
		return listedByEcho(fields[1:])
	case "printf":
		return listedByEcho(fields[min(2, len(fields)):])
	}
	return names
}

// everything reports whether names are all of a directory or a tree. It is not known what a filter
// leaves of these.
func everything(a alt) bool {
	return !strings.ContainsAny(a.text, "*?[") || strings.Trim(a.text, "./*") == ""
}

func listedByLs(args []field) (names []alt) {
	p := grammar{}.parse(args, false)
	if len(p.operands) == 0 && !p.has("d", "directory") {
		if names = append(names, someNames("*")); p.has("a", "A", "all", "almost-all") {
			names = append(names, someNames(".*"))
		}
	}
	for _, f := range p.operands {
		if !p.has("d", "directory") && !f.glob {
			return nil // names without their directory
		}
		names = addAlt(names, namesOf(f))
	}
	return names
}

// listsTracked reports whether git prints the names of all files that it tracks: git-ls-files(1),
// git-ls-tree(1).
func listsTracked(args []field) bool {
	p := grammar{}.parse(args, false)
	if len(p.operands) == 0 {
		return false
	}
	for _, o := range p.options {
		if !hasWord("z c r cached full-name full-tree name-only recurse-submodules", o.name) {
			return false
		}
	}
	paths := p.operands[1:]
	switch p.operands[0].text {
	case "ls-tree":
		if len(paths) == 0 || !p.has("r") || !p.has("name-only") {
			return false
		}
		paths = paths[1:]
	case "ls-files":
	default:
		return false
	}
	return !slices.ContainsFunc(paths, func(f field) bool { return !hasWord(". ./ :/ * :/*", f.text) })
}

// listedByEcho returns the names that the shell makes of patterns.
func listedByEcho(args []field) (names []alt) {
	if !slices.ContainsFunc(args, func(f field) bool { return f.glob }) {
		return nil
	}
	for _, f := range args {
		if !f.dyn && !isOption(f) {
			names = addAlt(names, namesOf(f))
		}
	}
	return names
}

// someNames stands for names that a pattern matches.
func someNames(pattern string) alt { return alt{text: pattern, dyn: true, names: true} }

// namesOf stands for the names that a program prints of an operand.
func namesOf(f field) alt {
	a := fieldAlt(f)
	a.dyn, a.names = true, true
	return a
}

// listedValue returns the names that a word stands for that consists of a list, perhaps in quotes:
// $(ls), or a variable that has its output.
func (c *walker) listedValue(w *syntax.Word) []alt {
	parts := w.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	if len(parts) != 1 {
		return nil
	}
	switch part := parts[0].(type) {
	case *syntax.CmdSubst:
		return c.listed(feed{kind: feedProcess, stmts: part.Stmts, in: c})
	case *syntax.ParamExp:
		if part.Param == nil || !plainParam(part) || part.Index != nil {
			return nil
		}
		v, _ := c.scope.lookup(part.Param.Value)
		if slices.ContainsFunc(v.alts, func(a alt) bool { return !a.names || a.array }) {
			return nil
		}
		return v.alts
	}
	return nil
}
