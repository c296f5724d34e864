package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin handles the commands that act on the shell itself, and reports whether name is one of
// them.
func (c *walker) builtin(inv invocation, name string) bool {
	if c.posix && bashOnly(name) {
		return false
	}
	switch name {
	case "eval":
		c.evaluate(inv)
	case "source", ".":
		c.sourced(inv, name)
	case "trap":
		c.trapped(inv)
	case "cd", "chdir":
		c.risk(riskCd)
		c.emit(inv, name)
		c.changeDir(inv.fields[1:])
	case "pushd", "popd":
		c.risk(riskCd)
		c.emit(inv, name)
		c.directoryStack(inv.fields[1:], name == "pushd")
	case "alias":
		c.defineAliases(inv)
	case "hash":
		c.hashed(inv)
	case "set":
		c.emit(inv, name)
		c.setArgs(inv.fields[1:])
	case "shift":
		c.emit(inv, name)
		c.shift(inv.fields[1:])
	default:
		return c.variableBuiltin(inv, name)
	}
	return true
}

// bashOnly reports whether a POSIX shell does not have a builtin.
func bashOnly(name string) bool {
	switch name {
	case "declare", "typeset", "let", "source", "mapfile", "readarray", "enable", "compgen", "complete", "pushd", "popd":
		return true
	}
	return false
}

// variableBuiltin handles the commands that assign variables.
func (c *walker) variableBuiltin(inv invocation, name string) bool {
	args := inv.fields[1:]
	switch name {
	case "export", "readonly", "declare", "typeset", "local":
		c.declareWords(inv, name)
		return true
	case "read", "mapfile", "readarray", "getopts":
		c.emit(inv, name)
		c.assignedNames(inv, name)
	case "unset":
		c.emit(inv, name)
		c.unset(args)
	case "printf":
		c.emit(inv, name)
		c.printfVariable(args)
	case "test", "[":
		c.emit(inv, name)
		for i, f := range args {
			if i > 0 && args[i-1].text == "-v" {
				c.indexText(f)
			}
		}
	case "let":
		c.emit(inv, name)
		for _, f := range args {
			c.indexText(f)
			c.overwrite(f)
		}
	case "enable":
		p := grammar{short: "f:"}.parse(args, true)
		file, loads := p.value("f")
		if inv.opaque = loads; loads {
			c.read(c.locate(file, c.dirOf(inv)), name)
		}
		c.emit(inv, name)
	case "complete", "compgen":
		c.emit(inv, name)
		c.completions(args)
	default:
		return false
	}
	return true
}

// changeDir handles cd and its options.
func (c *walker) changeDir(args []field) {
	p := grammar{}.parse(args, true)
	d := c.scope.dir()
	switch {
	case len(p.operands) == 0:
		c.scope.chdir(c.homeDir())
	case p.operands[0].text == "-" && !p.operands[0].dyn:
		c.scope.chdir(c.scope.oldDir())
	default:
		c.scope.chdir(c.enterDir(p.operands[0], d))
	}
}

// homeDir returns the directory to which cd without an operand changes.
func (c *walker) homeDir() dir {
	e := eval{c: c, frozen: true}
	v := e.variable("HOME")
	return dir{path: v.text, unknown: v.dyn || !strings.HasPrefix(v.text, "/")}
}

func (c *walker) directoryStack(args []field, push bool) {
	p := grammar{}.parse(args, true)
	var stack []dir
	for s := c.scope; s != nil && stack == nil; s = s.parent {
		stack = s.stack
	}
	d := c.scope.dir()
	switch {
	case push && len(p.operands) == 1 && !strings.HasPrefix(p.operands[0].text, "+"):
		c.scope.stack = append(stack[:len(stack):len(stack)], d)
		c.scope.chdir(c.enterDir(p.operands[0], d))
	case !push && len(p.operands) == 0 && len(stack) > 0:
		c.scope.stack = stack[: len(stack)-1 : len(stack)]
		c.scope.chdir(stack[len(stack)-1])
	default:
		c.scope.chdir(dir{unknown: true})
	}
}

// defineAliases handles alias NAME=VALUE…
func (c *walker) defineAliases(inv invocation) {
	c.emit(inv, "alias")
	for _, f := range inv.fields[1:] {
		if eq := strings.IndexByte(f.text, '='); eq > 0 && !isOption(f) {
			c.risk(riskAlias)
			c.scope.setAlias(f.text[:eq], alias{value: f.from(eq + 1)})
		}
	}
}

// hashed handles hash -p PATH NAME, after which NAME runs PATH.
func (c *walker) hashed(inv invocation) {
	c.emit(inv, "hash")
	p := grammar{short: "p:"}.parse(inv.fields[1:], true)
	if path, ok := p.value("p"); ok {
		c.risk(riskAlias)
		for _, f := range p.operands {
			c.scope.setAlias(f.text, alias{value: path})
		}
	}
}

func (c *walker) shift(args []field) {
	old := c.scope.positional()
	n, ok := 1, true
	if len(args) > 0 {
		n, ok = args[0].number()
	}
	if !ok || n < 0 {
		c.scope.args = &positional{zero: old.zero, dyn: true}
		return
	}
	c.scope.args = &positional{zero: old.zero, args: old.args[min(n, len(old.args)):], dyn: old.dyn}
}

// setArgs handles set -- a b.
func (c *walker) setArgs(args []field) {
	old := c.scope.positional()
	for len(args) > 0 && args[0].text != "--" && len(args[0].text) > 1 && (args[0].text[0] == '-' || args[0].text[0] == '+') {
		if strings.Trim(args[0].text[1:], "abefhkmnptuvxBCEHPTo") != "" || args[0].dyn || args[0].glob { // an error: nothing is set
			c.scope.args = &positional{zero: old.zero, dyn: true}
			return
		}
		if strings.HasSuffix(args[0].text, "o") && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	dashes := args[0].text == "--" || args[0].text == "-"
	if dashes && args[0].text == "-" && len(args) == 1 {
		return // set - alone keeps them
	}
	if dashes {
		args = args[1:]
	}
	p := positionals(append([]field{old.zero}, args...))
	p.dyn = p.dyn || !dashes && args[0].dyn
	c.scope.args = p
}

// declareWords handles export and similar commands that the parser did not split: after command or
// builtin, quoted, or in a POSIX shell.
func (c *walker) declareWords(inv invocation, name string) {
	c.emit(inv, name)
	flags := ""
	for _, f := range inv.fields[1:] {
		if isOption(f) {
			flags += f.text
			continue
		}
		if n := assignmentName(f.text); n > 0 {
			c.localName(name, flags, f.text[:n-1])
		}
		c.declareField(name, flags, f)
	}
}

// assignedNames handles read and similar commands. The values of the variables that they name are
// known only at run time, unless read reads text of the script.
func (c *walker) assignedNames(inv invocation, name string) {
	args := inv.fields[1:]
	g := grammar{short: "d:n:u:C:c:O:s:"}
	if name == "read" {
		g = grammar{short: "a:d:i:n:N:p:t:u:"}
	}
	p := g.parse(args, true)
	operands := p.operands
	if name == "getopts" && len(operands) > 1 {
		operands = operands[1:2]
	}
	if code, ok := p.value("C"); ok && name != "read" {
		c.reread(code, name+" -C", dialectBash)
	}
	if f, ok := p.value("a"); ok {
		operands = append(operands[:len(operands):len(operands)], f)
	}
	input := c.feedOf(inv)
	fed := (input.kind == feedPipe || input.kind == feedProcess) && name != "getopts" && !c.lists(input)
	for _, f := range operands {
		c.indexText(f)
		c.overwrite(f)
		if fed && !f.dyn && syntax.ValidName(f.text) {
			c.setVariable(f.text, variable{alts: []alt{{dyn: true, fed: true, array: name != "read" || p.has("a")}}})
		}
	}
	if names := c.listed(c.feedOf(inv)); len(names) > 0 && len(operands) == 1 && !operands[0].dyn && syntax.ValidName(operands[0].text) {
		c.setVariable(operands[0].text, variable{alts: namesRead(names, name != "read" || p.has("a"))})
		return
	}
	if name == "read" && c.ownInput && !p.has("a", "d", "i", "n", "N", "t", "u") {
		c.readLine(inv, operands)
	}
}

// namesRead returns the values of a variable that gets one of these names, or of an array that gets
// all of them.
func namesRead(names []alt, array bool) []alt {
	if !array {
		return names
	}
	all := alt{array: true, dyn: true, names: true}
	for _, n := range names {
		all.list = append(all.list, n.text)
	}
	return []alt{all}
}

// readLine assigns the first line of an input that the script contains: read A B <<< "a b". The last
// variable gets what is left of the line. Each may have another value, too: the variable may be
// readonly, and IFS may come from a file.
func (c *walker) readLine(inv invocation, names []field) {
	split := func(a assignment) bool { return a.name == "IFS" }
	text, known := c.feedOf(inv).content()
	if _, set := c.scope.lookup("IFS"); !known || set || slices.ContainsFunc(inv.env, split) || strings.IndexByte(text.text, '\\') >= 0 {
		return
	}
	rest, _, _ := strings.Cut(text.text, "\n")
	for i, f := range names {
		value := strings.Trim(rest, " \t")
		if i < len(names)-1 {
			at := strings.IndexAny(value+" ", " \t")
			value, rest = value[:at], value[at:]
		}
		if !f.dyn && syntax.ValidName(f.text) {
			c.setVariable(f.text, variable{alts: []alt{{text: value}, {dyn: true}}})
		}
	}
}

// overwrite discards the known value of the variable that a word names.
func (c *walker) overwrite(f field) {
	name, _, _ := strings.Cut(f.text, "[")
	name, _, _ = strings.Cut(name, "=")
	if syntax.ValidName(name) && !f.dyn {
		c.setVariable(name, unknown)
	}
}

func (c *walker) unset(args []field) {
	p := grammar{}.parse(args, true)
	for _, f := range p.operands {
		c.indexText(f)
		switch {
		case f.dyn || !syntax.ValidName(f.text):
		case p.has("f"):
			c.scope.define(f.text, []*function{nil})
		default:
			c.scope.set(f.text, variable{alts: []alt{{unset: true}}})
			if !p.has("v") && len(c.scope.functions(f.text)) > 0 {
				c.scope.define(f.text, addFunctions(c.scope.functions(f.text), []*function{nil}))
			}
		}
	}
}

// printfVariable handles printf -v NAME FORMAT…
func (c *walker) printfVariable(args []field) {
	p := (grammar{short: "v:"}).parse(args, true)
	name, ok := p.value("v")
	if !ok {
		return
	}
	c.indexText(name)
	c.overwrite(name)
	var b fieldBuilder
	if syntax.ValidName(name.text) && !name.dyn && printPrintf(&b, p.operands) {
		c.setVariable(name.text, variable{alts: []alt{fieldAlt(b.take())}})
	}
}

// completions handles complete: -C runs a command, -W expands its argument (bash(1), "Programmable
// Completion").
func (c *walker) completions(args []field) {
	p := grammar{short: "o:A:G:W:F:C:X:P:S:"}.parse(args, true)
	if code, ok := p.value("C"); ok {
		c.reread(code, "complete -C", dialectBash)
	}
	if words, ok := p.value("W"); ok {
		c.substitutions(words)
	}
	if name, ok := p.value("F"); ok && !name.dyn {
		c.callFunctions(c.scope.functions(name.text), invocation{fields: []field{name}, raw: name.text})
	}
}
