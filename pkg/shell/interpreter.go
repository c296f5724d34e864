package shell

import (
	"slices"
	"strings"

	"ethos/pkg/snippet"
)

// interpreter is a program that runs code that it is given.
type interpreter struct {
	shell   bool // its code is shell code, to be analysed
	dialect dialect
	// inline lists the options, one letter or a long name each, whose argument is code.
	inline string
	// argument lists the options whose argument is something else.
	argument string
	// attached lists the letters that take the rest of their word, if there is any.
	attached string
	// module lists the options after which no script is read: python -m.
	module string
	// program says that the first operand is code, not a file: awk.
	program bool
	// file lists the options that name a file of code: awk -f.
	file string
	// words says that operands are not code, and standard input only if a file option says so:
	// make.
	words bool
	// foreign is a shell with another grammar. Its code is read as if it were bash, and marked as
	// not understood.
	foreign bool
	// verbs are first operands that do not name a file to run, or after which code follows.
	verbs string
}

var (
	posixShell = interpreter{shell: true, dialect: dialectPOSIX}
	anyShell   = interpreter{shell: true, dialect: dialectAny}
	bashShell  = interpreter{shell: true, dialect: dialectBash}
	kornShell  = interpreter{shell: true, dialect: dialectKorn}
	zshShell   = interpreter{shell: true, dialect: dialectZsh}
	otherShell = interpreter{inline: "c command C init-command", argument: "o D", foreign: true}
	powerShell = interpreter{inline: "c command Command EncodedCommand e", argument: "o"}
	python     = interpreter{inline: "c", argument: "W X check-hash-based-pycs", module: "m"}
	perl       = interpreter{inline: "e E", argument: "I", attached: "MmiFxCDV"}
	ruby       = interpreter{inline: "e", argument: "C I r E encoding", attached: "iFxKTW", module: "S"}
	node       = interpreter{inline: "e eval p print pe", argument: "r require import loader experimental-loader C conditions env-file input-type", module: "test"}
	php        = interpreter{inline: "r B R E run process-begin process-code process-end", argument: "c d z S t", file: "f file F process-file"}
	lua        = interpreter{inline: "e", argument: "l"}
	julia      = interpreter{inline: "e eval E print", argument: "J L p t C O sysimage load procs threads project"}
	rscript    = interpreter{inline: "e"}
	tclsh      = interpreter{argument: "encoding"}
	expect     = interpreter{inline: "c", file: "f"}
	awk        = interpreter{inline: "e source", argument: "F v i l field-separator assign include load", file: "f file E exec", program: true}
	osascript  = interpreter{inline: "e", argument: "l s"}
	deno       = interpreter{verbs: "eval run test fmt lint check cache compile doc info install task repl serve add remove bench bundle coverage init jupyter publish types upgrade vendor"}
	makefile   = interpreter{inline: "eval E", argument: "C directory I include-dir o old-file W what-if new-file", file: "f file makefile", words: true}
	rake       = interpreter{inline: "e execute p execute-print E execute-continue", argument: "f rakefile I libdir r require R rakelibdir suppress-backtrace", words: true}
	bun        = interpreter{inline: "e eval p print", verbs: "run test install add remove update build x create init link pm upgrade"}
)

// findInterpreter recognises an interpreter by its name, with or without a version: python3.12, lua5.4.
func findInterpreter(name string) (interpreter, bool) {
	if kind, ok := interpreterNamed(name); ok {
		return kind, true
	}
	if base := strings.TrimRight(name, "0123456789.-"); base != name && base != "" {
		return interpreterNamed(base)
	}
	return interpreter{}, false
}

func interpreterNamed(name string) (interpreter, bool) {
	switch name {
	case "sh":
		return anyShell, true
	case "bash", "rbash":
		return bashShell, true
	case "dash", "ash", "hush", "yash", "posh":
		return posixShell, true
	case "ksh", "mksh", "ksh93", "pdksh", "lksh", "oksh":
		return kornShell, true
	case "zsh":
		return zshShell, true
	case "fish", "csh", "tcsh", "rc", "es", "osh", "ysh":
		return otherShell, true
	case "nu", "elvish", "xonsh", "pwsh", "powershell":
		return powerShell, true
	case "python", "pypy", "ipython", "pythonw", "jython", "micropython":
		return python, true
	case "perl", "raku":
		return perl, true
	case "ruby", "jruby", "irb", "mruby", "pry":
		return ruby, true
	case "node", "nodejs", "tsx", "ts-node":
		return node, true
	case "deno":
		return deno, true
	case "bun":
		return bun, true
	case "php", "php-cli":
		return php, true
	case "lua", "luajit", "luau", "texlua":
		return lua, true
	case "julia":
		return julia, true
	case "Rscript", "R", "littler":
		return rscript, true
	case "tclsh", "wish", "jimsh":
		return tclsh, true
	case "expect":
		return expect, true
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk", "busybox-awk":
		return awk, true
	case "osascript":
		return osascript, true
	case "pylint":
		return interpreter{inline: "init-hook", words: true}, true
	case "rake":
		return rake, true
	case "r2", "radare2", "rizin":
		return interpreter{inline: "c", argument: "a b e i I k m o s", words: true}, true
	case "make", "gmake", "ninja":
		return makefile, true
	case "emacs", "emacsclient":
		return interpreter{inline: "eval execute e", argument: "l load q u", words: true}, true
	case "guile", "racket", "elixir", "iex", "groovy", "scala", "swipl", "bpftrace", "ghci", "ocaml", "sbcl", "clojure", "bb", "gdb", "octave", "octave-cli", "gnuplot", "csi", "gsi", "scheme", "mit-scheme", "chezscheme", "gosh", "clj", "clisp":
		return interpreter{inline: "e eval c ex eval-command", argument: "l"}, true
	}
	return interpreter{}, false
}

// interpret lists an interpreter, and analyses the code that it is given if that is shell code.
func (c *walker) interpret(inv invocation, name string, kind interpreter) {
	if kind.shell {
		c.shellProgram(inv, name, kind)
		return
	}
	run := kind.take(inv.fields[1:])
	in := c.feedOf(inv)
	fed := in.kind != feedNone && run.stdin
	switch {
	case run.inline != nil:
		inv.code = clipCode(run.inline)
		inv.opaque = run.dynamic
		if run.dynamic {
			c.lack(lackOpaque)
		}
		if run.dynamic && run.inline[0].unseen() {
			c.risk(riskOpaqueInterpreter)
		}
	case run.script != nil && run.script.sub != nil, fed:
		inv.opaque = true
		c.risk(riskOpaqueInterpreter)
		if f, ok := in.static(); ok && fed {
			inv.code = clip(f.text, maxFacts/8)
		}
	case run.script != nil:
		c.read(c.locate(*run.script, c.dirOf(inv)), name)
		if f, ok := c.content(*run.script, inv); ok {
			inv.code = clip(f.text, maxFacts/8)
		}
	}
	var acts []snippet.Act
	if lang := languageOf(name); lang != snippet.None && inv.code != "" {
		acts = snippet.Read(lang, inv.code)
		inv.names = snippet.Names(lang, inv.code)
		inv.opaque = inv.opaque || decodes(acts)
	}
	c.emit(inv, name)
	c.effects(inv, name)
	c.snippet(inv, name, acts)
	if tool := moduleTool(name, inv.fields[1:]); tool != nil {
		c.dispatch(inv.inner(&wrapper{name: name}, tool))
	}
	if kind.foreign && run.inline != nil {
		c.lack(lackOpaque)
		c.rerun(join(run.inline), name+" -c", dialectAny, &positional{dyn: true}, inv)
	}
}

// unseen reports whether code begins with a part that is not static, so that nothing is known of
// it.
func (f field) unseen() bool { return f.many || f.dyn && startsDynamic(f.text) }

func clipCode(code []field) string {
	texts := make([]string, len(code))
	for i, f := range code {
		texts[i] = f.text
	}
	return clip(strings.Join(texts, "\n"), maxFacts/8)
}

// taken is what an interpreter's command line says about its code.
type taken struct {
	inline  []field // code given inline
	dynamic bool    // some of it is not static
	script  *field  // a file of code
	stdin   bool    // the code is standard input
}

// take reads an interpreter's arguments. Options end at the script: what follows belongs to it.
func (k interpreter) take(args []field) taken {
	var t taken
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg.text == "--" && !arg.dyn:
			return k.operands(t, args[i+1:])
		case !isOption(arg):
			return k.operands(t, args[i:])
		case arg.text == "--version" || arg.text == "--help" || arg.text == "-V" && !arg.dyn || arg.text == "-h":
			return taken{}
		}
		used, ended := k.option(&t, args[i:])
		if ended {
			return t
		}
		i += used - 1
	}
	return k.operands(t, nil)
}

// operands determines, from the words after the options, where the code is.
func (k interpreter) operands(t taken, args []field) taken {
	if t.inline != nil || t.script != nil {
		return t
	}
	if k.words {
		return t
	}
	if len(args) == 0 {
		t.stdin = true
		return t
	}
	first := args[0]
	if k.program {
		t.inline, t.dynamic = []field{first}, first.dyn
		return t
	}
	if slices.Contains(strings.Fields(k.verbs), first.text) {
		return k.verb(t, first.text, args[1:])
	}
	return t.file(first)
}

// verb handles deno eval CODE, deno run FILE, bun run FILE.
func (k interpreter) verb(t taken, verb string, args []field) taken {
	for len(args) > 0 && isOption(args[0]) {
		args = args[1:]
	}
	if len(args) == 0 {
		t.stdin = verb == "repl" || verb == "eval"
		return t
	}
	switch verb {
	case "eval":
		t.inline, t.dynamic = []field{args[0]}, args[0].dyn
	case "run", "serve":
		if strings.ContainsAny(args[0].text, "./-") { // bun run NAME is a script of package.json
			return t.file(args[0])
		}
	}
	return t
}

// file records a file of code, which may be another name of standard input.
func (t taken) file(f field) taken {
	switch f.text {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		t.stdin = true
	default:
		t.script = &f
	}
	return t
}

// option reads one word of options and its argument. ended reports that no code follows.
func (k interpreter) option(t *taken, args []field) (used int, ended bool) {
	arg := args[0]
	name, long := strings.CutPrefix(arg.text, "--")
	if !long && len(name) > 2 && k.takes(name[1:]) { // node -pe CODE
		name, long = name[1:], true
	}
	if long {
		name, _, attached := strings.Cut(name, "=")
		var value field
		used = 1
		if attached {
			value = arg.from(strings.IndexByte(arg.text, '=') + 1)
		} else if len(args) > 1 && k.takes(name) {
			value, used = args[1], 2
		}
		return used, k.given(t, name, value)
	}
	for i := 1; i < len(arg.text); i++ {
		name := arg.text[i : i+1]
		if slices.Contains(strings.Fields(k.module), name) {
			return len(args), true
		}
		if strings.Contains(k.attached, name) {
			return 1, false
		}
		if !k.takes(name) {
			continue
		}
		if i+1 < len(arg.text) {
			return 1, k.given(t, name, arg.from(i+1))
		}
		if len(args) > 1 {
			return 2, k.given(t, name, args[1])
		}
	}
	return 1, false
}

func (k interpreter) takes(name string) bool {
	return slices.Contains(strings.Fields(k.inline), name) || slices.Contains(strings.Fields(k.argument), name) || slices.Contains(strings.Fields(k.file), name)
}

func (k interpreter) given(t *taken, name string, value field) (ended bool) {
	switch {
	case slices.Contains(strings.Fields(k.inline), name):
		t.inline = append(t.inline, value)
		t.dynamic = t.dynamic || value.dyn
	case slices.Contains(strings.Fields(k.file), name):
		*t = t.file(value)
		if t.stdin {
			return true
		}
	case slices.Contains(strings.Fields(k.module), name):
		return true
	}
	return false
}

// feedOf returns the standard input of a command.
func (c *walker) feedOf(inv invocation) feed {
	if inv.input != nil {
		return *inv.input
	}
	return c.stdin
}
