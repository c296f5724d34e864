package shell

import (
	"strings"

	"ethos/pkg/snippet"
)

// interpreter is a program that runs code that it is given. The lists are words separated by
// spaces.
type interpreter struct {
	name    string
	dialect dialect // of a shell, whose code is analysed
	// language is that of the code, if package snippet reads it.
	language snippet.Language
	// inline lists the options, one letter or a long name each, whose argument is code.
	inline string
	// argument lists the options whose argument is something else.
	argument string
	// attached has the letters that take the rest of their word, if there is any.
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
	// verbs are first operands that do not name a file to run.
	verbs string
	// evals are first operands after which code follows.
	evals string
}

// shell reports whether the code is shell code, to be analysed.
func (k interpreter) shell() bool { return k.dialect != dialectScript }

// findInterpreter recognises an interpreter by its name, with or without a version: python3.12, lua5.4.
func findInterpreter(name string) (interpreter, bool) {
	kind := lookup(interpreters[:], name, func(k *interpreter) string { return k.name })
	if kind != nil {
		return *kind, true
	}
	if base := strings.TrimRight(name, "0123456789.-"); base != name {
		return findInterpreter(base)
	}
	return interpreter{}, false
}

// interpret lists an interpreter, and analyses the code that it is given if that is shell code.
func (c *walker) interpret(inv invocation, name string, kind interpreter) {
	if kind.shell() {
		c.shellProgram(inv, name, kind)
		return
	}
	run := kind.take(inv.fields[1:])
	for _, f := range moduleCode(name, inv.fields[1:]) {
		run.inline, run.dynamic = append(run.inline, f), run.dynamic || f.dyn
	}
	in := c.feedOf(inv)
	fed := in.kind != feedNone && run.stdin
	switch {
	case run.inline != nil:
		inv.code, inv.opaque = clipCode(run.inline), run.dynamic
		if run.dynamic {
			c.lack(lackOpaque)
			if run.inline[0].unseen() {
				c.risk(riskOpaqueInterpreter)
			}
		}
	case run.script != nil && run.script.sub != nil, fed:
		inv.opaque = true
		c.risk(riskOpaqueInterpreter)
		if f, ok := in.static(); ok && fed {
			inv.code = clip(f.text, maxFacts/8)
			inv.opaque = len(inv.code) < len(f.text)
		}
	case run.script != nil:
		c.read(c.locate(*run.script, c.dirOf(inv)), name)
		if f, ok := c.content(*run.script, inv); ok {
			inv.code = clip(f.text, maxFacts/8)
		}
	}
	var acts []snippet.Act
	if lang := kind.language; lang != snippet.None && inv.code != "" {
		acts = snippet.Read(lang, inv.code)
		inv.names = snippet.Names(lang, inv.code)
		inv.opaque = inv.opaque || decodes(acts)
	}
	for _, f := range run.loaded {
		acts = append(acts, snippet.Read(kind.language, f.text)...)
		inv.opaque = inv.opaque || f.dyn
	}
	c.emit(inv, name)
	c.effects(inv, name)
	c.snippet(inv, name, acts)
	if run.script != nil { // python manage.py shell -c CODE
		if w := findWords(baseName(run.script.text)); w != nil && w.code != "" {
			do := doing{walker: c, by: w.name, d: c.dirOf(inv)}
			do.words(inv)
		}
	}
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
	loaded  []field // code in a URL, which is loaded before the other
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
	if len(args) > 0 && hasWord(k.evals, args[0].text) {
		return t.evaluated(args[1:])
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
	if hasWord(k.verbs, first.text) {
		return k.verb(t, first.text, args[1:])
	}
	return t.file(first)
}

// evaluated takes the operands as code: deno eval CODE, rails runner CODE. The value of an option
// may be among them.
func (t taken) evaluated(args []field) taken {
	for _, f := range args {
		if !isOption(f) {
			t.inline, t.dynamic = append(t.inline, f), t.dynamic || f.dyn
		}
	}
	t.stdin = t.inline == nil
	return t
}

// verb handles deno run FILE, bun run FILE.
func (k interpreter) verb(t taken, verb string, args []field) taken {
	for len(args) > 0 && isOption(args[0]) {
		args = args[1:]
	}
	if len(args) == 0 {
		t.stdin = verb == "repl"
		return t
	}
	switch verb {
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
		if code, ok := dataCode(f); ok {
			t.loaded = append(t.loaded, code)
			return t
		}
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
		if hasWord(k.module, name) {
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
	return hasWord(k.inline, name) || hasWord(k.argument, name) || hasWord(k.file, name)
}

func (k interpreter) given(t *taken, name string, value field) (ended bool) {
	switch {
	case hasWord(k.inline, name):
		t.inline = append(t.inline, value)
		t.dynamic = t.dynamic || value.dyn
	case hasWord(k.file, name):
		*t = t.file(value)
		if t.stdin {
			return true
		}
	case hasWord(k.module, name):
		return true
	default:
		if code, ok := dataCode(value); ok {
			t.loaded = append(t.loaded, code)
		}
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
