package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ethos/pkg/gitargs"
)

// call walks a simple command: its substitutions, then its assignments, then the command that it
// runs.
func (c *walker) call(s *syntax.Stmt, ce *syntax.CallExpr) {
	for _, as := range ce.Assigns {
		c.scanAssign(as)
	}
	for _, w := range ce.Args {
		c.scanWord(w)
	}
	if len(ce.Args) == 0 {
		for _, as := range ce.Assigns {
			c.assign(as)
		}
		return
	}
	if c.twice(c.src.at(int(s.Pos().Offset()))) {
		return
	}
	c.aliased(ce)
	env := c.prefix(ce.Assigns)
	var ways [][]field
	c.expand(ce.Args, func(fields []field) { ways = append(ways, fields) })
	if len(ways) == 1 {
		c.invoke(s, ce, env, ways[0])
		return
	}
	var arms []*scope
	for _, fields := range ways {
		in := *c
		in.scope = c.scope.child()
		in.invoke(s, ce, env, fields)
		arms = append(arms, in.scope)
	}
	c.scope.mergeArms(arms, true)
}

// invoke runs the words that a simple command expands to.
func (c *walker) invoke(s *syntax.Stmt, ce *syntax.CallExpr, env []assignment, fields []field) {
	if len(fields) > 0 {
		c.dispatch(invocation{fields: fields, env: env, raw: c.raw(s)})
		return
	}
	for _, as := range ce.Assigns {
		c.assign(as)
	}
}

// raw returns the source text of a simple command.
func (c *walker) raw(s *syntax.Stmt) string {
	from, to := int(s.Pos().Offset()), 0
	if s.Cmd != nil {
		to = int(s.Cmd.End().Offset())
	}
	for _, r := range s.Redirs {
		to = max(to, int(r.Word.End().Offset()))
		from = min(from, int(r.Pos().Offset()))
	}
	return clip(strings.TrimSpace(c.src.slice(from, to)), maxRaw)
}

// aliased reads a command again with the alias that its first word names. The command is also
// walked as written, because shells that are not interactive may not expand aliases (bash(1),
// "ALIASES").
func (c *walker) aliased(ce *syntax.CallExpr) {
	name := ce.Args[0].Lit()
	al, ok := c.scope.alias(name)
	if !ok || c.aliases.has(name) {
		return
	}
	c.risk(riskAlias)
	var b fieldBuilder
	b.field(al.value)
	from := int(ce.Args[0].End().Offset())
	for _, w := range ce.Args[1:] { // it ends in a blank: the next word may be an alias too
		next, ok := c.scope.alias(w.Lit())
		if !ok || !strings.HasSuffix(al.value.text, " ") {
			break
		}
		b.field(next.value)
		from = int(w.End().Offset())
		al = next
	}
	b.text(c.src.slice(from, int(ce.End().Offset())), c.src.at(from))
	in := *c
	in.aliases = &activeAlias{outer: c.aliases, name: name}
	in.scope = c.scope.child()
	in.assignPrefix(c.prefix(ce.Assigns))
	in.reread(b.take(), "alias:"+name, dialectBash)
	c.scope.merge(in.scope, false)
}

// dispatch converts a command to its canonical form, one wrapper at a time, and lists it.
func (c *walker) dispatch(inv invocation) {
	for c.spend(costStatement) {
		head := inv.fields[0]
		if head.uncertainHead() {
			c.dynamic(inv)
			return
		}
		name := baseName(head.text)
		if head.glob {
			c.risk(riskDynamicCommand)
		}
		if !inv.noFunc {
			if funcs := c.scope.functions(head.text); len(funcs) > 0 {
				c.callFunctions(funcs, inv)
				return
			}
		}
		w := findWrapper(name)
		if w == nil {
			w = loader(name)
		}
		if w == nil || len(inv.wrappers) >= maxDepth {
			if w != nil {
				c.lack(lackDepth)
				c.risk(riskWrapperDepth)
			}
			c.simple(inv, name)
			return
		}
		next, more := c.unwrap(w, inv)
		if !more {
			return
		}
		inv = next
	}
}

// dynamic lists a command whose name is not static. If the word may expand to nothing ($SUDO rm x),
// the next word may be the command; that command is listed too if this package knows it.
func (c *walker) dynamic(inv invocation) {
	inv.opaque = inv.fields[0].fed
	c.emit(inv, "")
	if inv.fields[0].many && len(inv.fields) > 1 {
		rest := inv
		rest.fields = inv.fields[1:]
		if f := rest.fields[0]; !f.uncertainHead() && knownCommand(baseName(f.text)) {
			c.dispatch(rest)
		}
	}
}

// baseName returns the last element of a command's path, without the carriage return of a line from
// another system.
func baseName(path string) string {
	return strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], "\r")
}

// loader returns a wrapper if name is the dynamic loader run as a program: ld.so(8).
func loader(name string) *wrapper {
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || name == "ld.so" {
		return &wrapper{name: name, grammar: grammar{long: "library-path= preload= argv0= inhibit-rpath= audit= glibc-hwcaps-prepend= glibc-hwcaps-mask= list verify"}, query: "list verify"}
	}
	return nil
}

// simple lists a command that runs no command in its arguments, or does so in its own way.
func (c *walker) simple(inv invocation, name string) {
	if !inv.noShell && c.builtin(inv, name) {
		return
	}
	if kind, ok := findInterpreter(name); ok {
		c.interpret(inv, name, kind)
		return
	}
	if gitargs.IsGit(name) {
		inv.env = append(c.gitEnvironment(inv.env), inv.env...)
	}
	if strings.HasPrefix(name, "ethos-") {
		inv.env = append(c.ethosEnvironment(inv.env), inv.env...)
	}
	if (traitOf(name, traitStatements) || readsCode(name, inv.fields)) && inv.code == "" {
		inv.code = clip(c.statements(inv), maxFacts/8)
	}
	if !inv.silent {
		c.emit(inv, name)
	}
	c.effects(inv, name)
	c.consoleCode(inv, name)
	c.ownProgram(inv)
}

// statements returns what a client reads for its service: its standard input, with the source text of
// what is not static in it, and the files among its words that the script has written.
func (c *walker) statements(inv invocation) string {
	f, _ := c.feedOf(inv).content()
	text := f.text
	if len(c.written) == 0 {
		return text
	}
	for _, arg := range inv.fields[1:] {
		for _, name := range []field{arg, arg.from(min(2, len(arg.text))), arg.from(strings.IndexByte(arg.text, '=') + 1)} {
			if part, ok := c.content(name, inv); ok && name.text != "" {
				text += "\n" + part.text
				break
			}
		}
	}
	return text
}

// readsCode reports whether a client of containers takes its standard input for a compose file, or
// has a client of a service in a container read it.
func readsCode(name string, fields []field) bool {
	compose := traitOf(name, traitCompose)
	if !compose && name != "kubectl" {
		return false
	}
	inside := false
	for i, f := range fields {
		switch {
		case compose && (f.text == "-f-" || f.text == "--file=-" || f.text == "-" && (fields[i-1].text == "-f" || fields[i-1].text == "--file")):
			return true
		case inside && traitOf(baseName(f.text), traitStatements):
			return true
		}
		inside = inside || f.text == "exec" || f.text == "run"
	}
	return false
}
