package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// prompt says when a program other than an interpreter runs what is typed into it. It does so
// unless it was given one of the options in not, or more operands than operands. With verbs it does
// so only after one of them, or, with bare, also without any. With needs it does so only with one
// of those options. With other, a command may follow the place that the program connects to.
type prompt struct {
	name string
	grammar
	operands int // -1: any number
	not      string
	verbs    string
	needs    string
	bare     bool
	other    bool
}

const anyNumber = -1

// findPrompt returns the entry of a program that runs commands which a person types: terminals,
// remote and container shells, shells of an environment, database consoles, editors, pagers,
// debuggers. It returns nil for any other program.
func findPrompt(name string) *prompt {
	return lookup(prompts[:], name, func(p *prompt) string { return p.name })
}

// asks reports whether the program waits for commands if it is started with these arguments.
func (p *prompt) asks(args []field) bool {
	given := p.parse(args, false)
	operands := given.operands
	for _, arg := range args {
		if isOption(arg) && hasWord(p.not, strings.TrimLeft(arg.text, "-")) {
			return false
		}
	}
	if p.verbs != "" && !(p.bare && len(operands) == 0) {
		at := 0
		for at < len(operands) && !hasWord(p.verbs, operands[at].text) {
			at++
		}
		if at == len(operands) {
			return false
		}
		if p.other && len(operands) > at+2 && !asksBehind(args, operands[at+2]) {
			return false
		}
	}
	if p.not != "" && given.has(strings.Fields(p.not)...) {
		return false
	}
	if p.needs != "" && !given.has(strings.Fields(p.needs)...) {
		return false
	}
	if p.operands == anyNumber || len(operands) <= p.operands {
		return true
	}
	return p.other && asksBehind(args, operands[p.operands])
}

// asksBehind reports whether the words from first on contain an interpreter that, judged by its
// arguments, waits for commands, or a word that may be such an interpreter.
func asksBehind(args []field, first field) bool {
	for i := range args {
		if args[i].at(0) < first.at(0) {
			continue
		}
		name := baseName(args[i].text)
		kind, code := findInterpreter(name)
		switch {
		case args[i].uncertainHead():
			return true
		case code && kind.shell():
			run := shellArgs(args[i+1:])
			return run.code == nil && run.script == nil && !run.ignore
		case code:
			return kind.waits(name, args[i+1:], true)
		}
	}
	return false
}

// interactive reports whether a command runs what it reads from an input that the caller controls.
// Whoever holds the other end of a terminal can continue to give it commands, and none of them is
// in the script.
func (c *walker) interactive(inv invocation, name string) bool {
	if c.bounded || inv.bounded {
		return false
	}
	if inv.typed {
		return true
	}
	args := inv.fields[1:]
	kind, code := findInterpreter(name)
	p := findPrompt(name)
	if !code && p == nil && name != "source" && name != "." && name != "parallel" {
		return false
	}
	typed := c.typed(inv)
	switch {
	case name == "source" || name == ".":
		return len(args) > 0 && typedFile(args[0].text, typed)
	case name == "parallel":
		return typed && !hasArguments(args)
	case code && kind.shell():
		run := shellArgs(args)
		if run.script != nil {
			return typedFile(run.script.text, typed)
		}
		return typed && run.code == nil && !run.ignore
	case code && kind.waits(name, args, typed):
		return true
	}
	return p != nil && typed && p.asks(args)
}

// hasArguments reports whether parallel reads no commands, because they are in its words or in a
// file.
func hasArguments(args []field) bool {
	for _, arg := range args {
		if strings.HasPrefix(arg.text, "::") || strings.HasPrefix(arg.text, "-a") || strings.HasPrefix(arg.text, "--arg-file") || arg.text == "--version" || arg.text == "--help" {
			return true
		}
	}
	return false
}

// waits reports whether an interpreter takes code from typed input, or is told to continue with it
// after its script.
func (k interpreter) waits(name string, args []field, typed bool) bool {
	run := k.take(args)
	if run.script != nil && typedFile(run.script.text, typed) {
		return true
	}
	if !typed {
		return false
	}
	snake := strings.HasPrefix(name, "py") || strings.HasPrefix(name, "ipython") || name == "micropython"
	for i, arg := range args {
		switch text := arg.text; {
		case !isOption(arg):
			return run.stdin
		case text == "-i", text == "--interactive", text == "-a" && strings.HasPrefix(name, "php"), strings.HasPrefix(text, "-d") && strings.HasPrefix(name, "perl"),
			snake && len(text) > 2 && strings.Trim(text[1:], "bBdEiIOPqsSuvx") == "" && strings.IndexByte(text, 'i') > 0:
			return true
		case snake && text == "-m" && i+1 < len(args):
			return hasWord("code pdb IPython ptpython bpython asyncio ipdb pudb", args[i+1].text)
		case !snake && hasWord("-v -V -version --version -h --help -help -m --ini --v8-options", text):
			return false // prints only its help or version
		}
	}
	return run.stdin
}

// typed reports whether a person may type the input of a command.
func (c *walker) typed(inv invocation) bool {
	in := c.feedOf(inv)
	return in.typed() || in.relayed()
}

// typed reports whether the input stays under the control of whoever runs the script.
func (f feed) typed() bool { return f.kind == feedNone && !f.closed || f.terminal }

// relayed reports whether the input is a pipe whose source is typed: cat | sh.
func (f feed) relayed() bool {
	return f.kind == feedPipe && f.in != nil && (f.in.stdin.typed() || f.in.stdin.relayed()) && f.in.relays(f.stmt)
}

// relays reports whether a statement passes on what it reads.
func (c *walker) relays(s *syntax.Stmt) bool {
	if !c.spend(costStatement) {
		return false
	}
	for _, r := range s.Redirs {
		if r.N != nil && r.N.Value != "0" {
			continue
		}
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			return typedFile(r.Word.Lit(), true)
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			return false
		}
	}
	switch cmd := s.Cmd.(type) {
	case *syntax.Block:
		return c.anyRelays(cmd.Stmts)
	case *syntax.Subshell:
		return c.anyRelays(cmd.Stmts)
	case *syntax.BinaryCmd:
		if isPipe(cmd) {
			return c.relays(cmd.X) && c.relays(cmd.Y)
		}
		return c.relays(cmd.X) || c.relays(cmd.Y)
	case *syntax.CallExpr:
		return c.relaysCall(cmd)
	}
	return false
}

func (c *walker) anyRelays(list []*syntax.Stmt) bool {
	return slices.ContainsFunc(list, c.relays)
}

// relaysCall is relays for the filters that read standard input if they have no file operand.
func (c *walker) relaysCall(call *syntax.CallExpr) bool {
	e := eval{c: c, frozen: true}
	fields := e.words(call.Args)
	if len(fields) == 0 {
		return false
	}
	name, operands := baseName(fields[0].text), 0 // operands that are not a file
	switch {
	case traitOf(name, traitRelay):
	case traitOf(name, traitRelayExpression):
		operands = 1
	case traitOf(name, traitRelayAlways):
		return true
	default:
		return false
	}
	for _, f := range fields[1:] {
		if _, number := f.number(); isOption(f) || number {
			continue
		}
		if typedFile(f.text, true) {
			return true
		}
		operands--
	}
	return operands >= 0
}

// typedFile reports whether a file is the terminal, or another name of a standard input that is
// typed.
func typedFile(name string, typed bool) bool {
	switch {
	case stdinName(name):
		return typed
	case strings.HasPrefix(name, "/dev/tty"), strings.HasPrefix(name, "/dev/pts/"), strings.HasPrefix(name, "/dev/fd/"), name == "/dev/console",
		name == "/dev/stdout", name == "/dev/stderr":
		return true
	}
	return strings.HasPrefix(name, "/proc/") && strings.Contains(name, "/fd/")
}

// typedVariables reports whether a command reads typed input into variables. If the script later
// runs a command that it does not name, that input may be the command.
func (c *walker) typedVariables(inv invocation, name string) bool {
	switch name {
	case "read", "mapfile", "readarray":
		return !c.bounded && !inv.bounded && c.typed(inv)
	}
	return false
}
