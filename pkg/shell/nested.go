package shell

import "strings"

// shellProgram lists a shell and analyses the code that it is given: -c CODE, standard input, a
// process substitution.
func (c *walker) shellProgram(inv invocation, name string, kind interpreter) {
	run := shellArgs(inv.fields[1:])
	in := c.feedOf(inv)
	code, label, known := field{}, name, false
	switch {
	case run.ignore:
	case run.checks:
		if run.code == nil && run.script != nil && run.script.sub == nil && !stdinName(run.script.text) {
			c.read(c.locate(*run.script, c.dirOf(inv)), name)
		}
	case run.code != nil:
		code, label = *run.code, name+" -c"
		known = !code.dyn || code.text != "{}"
		inv.opaque = code.dyn || code.many
		if code.unseen() {
			c.risk(riskOpaqueInterpreter)
		}
	case run.script != nil && run.script.sub != nil:
		code, known = run.script.sub.printed()
		label, inv.opaque = "process_substitution", !known || code.dyn
		c.risk(riskOpaqueInterpreter)
	case run.script != nil && !stdinName(run.script.text):
		c.read(c.locate(*run.script, c.dirOf(inv)), name)
		code, known = c.content(*run.script, inv)
		label = "file"
	case in.kind != feedNone:
		code, known = in.content()
		label, inv.opaque = in.label(), !known || code.dyn
		c.risk(riskOpaqueInterpreter)
	}
	if !inv.silent {
		c.emit(inv, name)
	}
	if known {
		c.rerun(code, label, kind.dialect, run.args, inv)
	}
}

// printed returns the output of the code in <( ) if it is static.
func (s *substitution) printed() (field, bool) {
	if !s.read {
		return field{}, false
	}
	return s.in.printed(s.stmts)
}

func stdinName(text string) bool {
	switch text {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}

// shellRun is the parsed command line of a shell.
type shellRun struct {
	code   *field
	script *field
	args   *positional
	ignore bool // --version, --help
	checks bool // -n: it reads the code and runs none of it
}

// shellArgs parses the arguments of sh, bash, dash, ksh, zsh: option letters in clusters, of which
// o and O take the next word. With -c the first operand is code; with -s, or without an operand,
// standard input is (bash(1), "OPTIONS").
func shellArgs(args []field) shellRun {
	var run shellRun
	command, stdin, live := false, false, false
	for len(args) > 0 {
		text := args[0].text
		if len(text) < 2 || text[0] != '-' && text[0] != '+' {
			break
		}
		args = args[1:]
		if text == "--" {
			break
		}
		if live = live || strings.ContainsAny(text, "+ioO$`") || text[1] == '-'; text[1] == '-' {
			args = longShellOption(&run, text, args)
			continue
		}
		command = command || text[0] == '-' && strings.IndexByte(text, 'c') > 0
		stdin = stdin || text[0] == '-' && strings.IndexByte(text, 's') > 0
		run.checks = run.checks || text[0] == '-' && strings.IndexByte(text, 'n') > 0
		args = args[min(len(args), strings.Count(text, "o")+strings.Count(text, "O")):]
	}
	run.checks = run.checks && !live // an interactive shell ignores -n; another option may take it back
	if len(args) > 0 && args[0].text == "-" && !args[0].dyn {
		args = args[1:]
	}
	switch {
	case command && len(args) > 0:
		run.code, run.args = &args[0], positionals(args[1:])
	case command:
		run.ignore, run.args = true, positionals(nil)
	case stdin || len(args) == 0:
		run.args = positionals(append([]field{{text: "bash", dyn: true}}, args...))
	default:
		run.script, run.args = &args[0], positionals(args)
	}
	return run
}

// longShellOption parses a long option; some take a file or a name.
func longShellOption(run *shellRun, text string, args []field) []field {
	switch text {
	case "--version", "--help":
		run.ignore = true
	case "--rcfile", "--init-file", "--emulate":
		if len(args) > 0 {
			return args[1:]
		}
	}
	return args
}

// shellCode analyses the code that a program other than a shell passes to one: su -c, flock -c,
// watch.
func (c *walker) shellCode(code field, label string, args *positional, inv invocation) {
	if code.dyn || code.many {
		c.lack(lackOpaque)
		if code.unseen() {
			c.risk(riskOpaqueInterpreter)
		}
	}
	c.rerun(code, label, dialectAny, args, inv)
}

// evaluate handles eval: its joined arguments are code for this shell.
func (c *walker) evaluate(inv invocation) {
	c.risk(riskEval)
	args := inv.fields[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	code := field{}
	if len(args) > 0 {
		code = join(args)
		for _, f := range args {
			code.dyn = code.dyn || f.many || f.glob
		}
	}
	inv.opaque = code.dyn
	c.emit(inv, "eval")
	if code.text == "" {
		return
	}
	in := *c
	in.scope = c.scope.child()
	in.assignPrefix(inv.env)
	in.reread(code, "eval", c.src.dialect)
	c.scope.merge(in.scope, true)
}

// sourced handles source FILE and . FILE.
func (c *walker) sourced(inv invocation, name string) {
	args := inv.fields[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		c.emit(inv, name)
		return
	}
	file := args[0]
	var code field
	known := false
	in := c.feedOf(inv)
	switch {
	case file.sub != nil:
		c.risk(riskOpaqueInterpreter)
		code, known = file.sub.printed()
		inv.opaque = !known || code.dyn
	case stdinName(file.text) && in.kind != feedNone:
		c.risk(riskOpaqueInterpreter)
		code, known = in.content()
		inv.opaque = !known || code.dyn
	default:
		c.read(c.locate(file, c.dirOf(inv)), name)
		code, known = c.content(file, inv)
	}
	c.emit(inv, name)
	if !known {
		return
	}
	inner := *c
	if len(args) > 1 {
		inner.scope = c.scope.child()
		inner.scope.args = positionals(args)
		inner.scope.locals = map[string]struct{}{}
	}
	inner.reread(code, "source", c.src.dialect)
	if len(args) > 1 {
		c.scope.merge(inner.scope, true)
	}
}

// trapped handles trap CODE SIGNAL…: the code runs later in this shell.
func (c *walker) trapped(inv invocation) {
	args := inv.fields[1:]
	if len(args) > 0 && args[0].text == "--" {
		args = args[1:]
	}
	inv.opaque = len(args) > 1 && args[0].dyn
	c.emit(inv, "trap")
	if len(args) < 2 {
		return
	}
	switch args[0].text {
	case "", "-", "-l", "-p", "-P":
		return
	}
	if _, number := args[0].number(); number {
		return
	}
	sh := c.scope.root()
	if len(sh.traps) < maxCommands {
		sh.traps = append(sh.traps, trap{code: args[0], in: *c})
	}
}

// runTrap walks the code of a trap in the scope in which its shell ends. Every variable may have
// any value that it had since the trap was set.
func (c *walker) runTrap(t trap) {
	in := t.in
	in.scope = c.scope.child()
	for name, alts := range c.scope.root().history {
		v, _ := c.scope.lookup(name)
		v.alts = addAlts(alts, v.alts)
		in.scope.set(name, v)
	}
	in.reread(t.code, "trap", t.in.src.dialect)
}
