package shell

import (
	"slices"
	"strings"
)

// su handles su, which runs -c CODE in a shell or reads its code from standard input, and runuser
// -u USER, which runs a command.
func (c *walker) su(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	if p.has("u", "user") && len(p.operands) > 0 {
		return inv.inner(w, p.operands), true
	}
	if code, ok := p.value("c", "command", "session-command"); ok {
		c.alone(inv, w.name)
		c.shellCode(code, w.name+" -c", positionals(p.operands), inv)
		return inv, false
	}
	if c.feedOf(inv).kind == feedNone {
		c.alone(inv, w.name)
		return inv, false
	}
	in := inv.inner(w, []field{literal("sh", inv.fields[0].offset)})
	c.interpret(in, "sh", interpreter{dialect: dialectAny})
	return inv, false
}

// commandString handles a wrapper that passes its operands to a shell.
func (c *walker) commandString(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	words := w.name == "watch" && p.has("x", "exec") || w.name == "entr" && !p.has("s") || w.name == "watchexec" && len(p.operands) > 1
	if words && len(p.operands) > 0 {
		return inv.inner(w, p.operands), true
	}
	c.alone(inv, w.name)
	if w.name == "watch" || w.name == "entr" {
		if len(p.operands) > 0 {
			c.shellCode(join(p.operands), w.name, &positional{dyn: true}, inv)
		}
		return inv, false
	}
	for _, code := range append(p.values("s", "setup", "p", "prepare", "c", "cleanup", "conclude"), p.operands...) {
		c.shellCode(code, w.name, &positional{dyn: true}, inv)
	}
	return inv, false
}

func (c *walker) flock(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	if code, ok := p.value("c", "command"); ok {
		c.alone(inv, w.name)
		c.shellCode(code, w.name+" -c", &positional{dyn: true}, inv)
		return inv, false
	}
	if len(p.operands) < 2 {
		c.alone(inv, w.name)
		return inv, false
	}
	if first := p.operands[1].text; (first == "-c" || first == "--command") && len(p.operands) > 2 {
		c.alone(inv, w.name)
		c.shellCode(p.operands[2], w.name+" -c", &positional{dyn: true}, inv)
		return inv, false
	}
	return inv.inner(w, p.operands[1:]), true
}

// script handles script, which records a session: -c CODE, or a shell.
func (c *walker) script(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	c.alone(inv, w.name)
	if code, ok := p.value("c", "command"); ok {
		c.shellCode(code, w.name+" -c", &positional{dyn: true}, inv)
	}
	_, command := scriptOperands(p, inv)
	return inv.inner(w, command), len(command) > 0
}

// scriptOperands separates the file that script writes from the command that follows it, or follows
// "--".
func scriptOperands(p *parsed, inv invocation) (file, command []field) {
	for i, f := range inv.fields {
		if f.text == "--" && !f.dyn {
			n := len(p.operands) - (len(inv.fields) - i - 1)
			return p.operands[:max(n, 0)], inv.fields[i+1:]
		}
	}
	if len(p.operands) < 2 {
		return p.operands, nil
	}
	for i, f := range inv.fields {
		if f.at(0) == p.operands[1].at(0) && f.text == p.operands[1].text {
			command = inv.fields[i:]
		}
	}
	return p.operands[:1], command
}

func (c *walker) scriptFiles(p *parsed, inv invocation) {
	operands, _ := scriptOperands(p, inv)
	files := append(p.values("O", "log-out", "B", "log-io", "I", "log-in", "T", "log-timing"), operands...)
	if len(files) == 0 {
		files = []field{literal("typescript", inv.fields[0].offset)}
	}
	for _, f := range files {
		c.write(c.locate(f, c.dirOf(inv)), "script", opWrite)
	}
}

// setarch handles setarch, which takes an optional architecture, and options after it too.
func (c *walker) setarch(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	if len(p.operands) > 0 && !strings.ContainsAny(p.operands[0].text, "0123456789") {
		return inv.inner(w, p.operands), true
	}
	if len(p.operands) > 1 {
		p2 := w.grammar.parse(p.operands[1:], true)
		if len(p2.operands) > 0 {
			return inv.inner(w, p2.operands), true
		}
	}
	c.alone(inv, w.name)
	return inv, false
}

// netns handles ip netns exec NAME COMMAND.
func (c *walker) netns(w *wrapper, inv invocation) (invocation, bool) {
	p := w.grammar.parse(inv.fields[1:], true)
	if o := p.operands; len(o) > 3 && (o[0].text == "netns" || o[0].text == "vrf") && o[1].text == "exec" {
		return inv.inner(w, o[3:]), true
	}
	c.alone(inv, w.name)
	return inv, false
}

// carried handles a project's runner: it is listed, and so is what it runs.
func (c *walker) carried(w *wrapper, inv invocation) (invocation, bool) {
	c.alone(inv, w.name)
	p := w.grammar.parse(inv.fields[1:], true)
	for below := 0; below < maxBelow && len(p.operands) > 0 && !hasWord(w.query, p.operands[0].text); below++ {
		if below == 0 && !hasWord(w.below, p.operands[0].text) {
			return inv, false
		}
		p = w.grammar.parse(p.operands[1:], true)
	}
	if len(p.operands) < 2 || !hasWord(w.query, p.operands[0].text) {
		return inv, false
	}
	if w.name == "npm" && p.operands[0].text == "explore" { // npm explore PACKAGE -- CODE
		p.operands = p.operands[1:]
	}
	p = w.grammar.parse(p.operands[1:], true)
	if code, ok := p.value("c", "call"); ok && w.name == "npm" {
		c.shellCode(code, w.name+" -c", &positional{dyn: true}, inv)
	}
	if len(p.operands) <= w.skip || p.has("m", "module") {
		return inv, false
	}
	in := inv.inner(w, p.operands[w.skip:])
	if first := in.fields[0]; w.name == "hatch" { // hatch run ENV:COMMAND
		in.fields = append([]field{first.from(strings.LastIndexByte(first.text, ':') + 1)}, in.fields[1:]...)
	}
	if len(in.fields) == 1 && strings.ContainsAny(in.fields[0].text, " ;|&") && !in.fields[0].uncertainHead() { // lerna exec 'CODE'
		c.shellCode(in.fields[0], w.name, &positional{dyn: true}, inv)
		return inv, false
	}
	return in, in.fields[0].text != ""
}

// maxBelow is how many words may be before the subcommand of a carrier: yarn workspace NAME exec.
const maxBelow = 2

// confined handles ethos-sandbox run COMMAND, ethos-sandbox work space run NAME -- COMMAND, and
// ethos-sandbox shell with its code in -c or standard input. The inner command is judged, although
// the boundary confines it.
func (c *walker) confined(w *wrapper, inv invocation) (invocation, bool) {
	call := ethosCall(w.name, inv.fields)
	c.alone(inv, w.name)
	var rest []field
	if call.Rest >= 0 {
		rest = inv.fields[1+call.Rest:]
	}
	if len(call.Unknown) > 0 {
		c.lack(lackUnresolved)
	}
	// A program that is called by a path may be another one with the same name.
	bounded := inv.fields[0].text == w.name
	switch name := call.Name(); name {
	case "run", "workspace run":
		if name != "run" { // NAME -- COMMAND
			rest = rest[min(len(rest), 2):]
		}
		in := inv.inner(w, rest)
		in.bounded = inv.bounded || bounded
		return in, len(rest) > 0
	case "shell":
		outer := c.bounded
		c.bounded = outer || bounded
		defer func() { c.bounded = outer }()
		if code, ok := call.Last("command"); ok {
			f := inv.fields[1+code.Word].from(code.Offset)
			c.shellCode(f, w.name+" -c", positionals(rest), inv)
		} else if c.feedOf(inv).kind != feedNone {
			c.interpret(inv.inner(w, []field{literal("sh", inv.fields[0].offset)}), "sh", interpreter{dialect: dialectAny})
		}
	}
	return inv, false
}

// bubblewrap handles bwrap, whose options take no, one or two words.
func (c *walker) bubblewrap(w *wrapper, inv invocation) (invocation, bool) {
	c.alone(inv, w.name)
	for i := 1; i < len(inv.fields); i++ {
		switch f := inv.fields[i]; {
		case f.text == "--" || !isOption(f):
			if f.text == "--" {
				i++
			}
			return inv.inner(w, inv.fields[i:]), i < len(inv.fields)
		case strings.Contains(f.text, "bind") || slices.Contains([]string{"--symlink", "--setenv", "--chmod", "--file", "--overlay"}, f.text):
			i += 2
		case !strings.HasPrefix(f.text, "--unshare") && !slices.Contains([]string{"--die-with-parent", "--new-session", "--clearenv", "--as-pid-1", "--share-net", "--disable-userns", "--assert-userns-disabled", "--level-prefix"}, f.text):
			i++
		}
	}
	return inv, false
}

// daemon handles start-stop-daemon: an option names the program, and its arguments follow "--".
func (c *walker) daemon(w *wrapper, inv invocation) (invocation, bool) {
	c.alone(inv, w.name)
	p := w.grammar.parse(inv.fields[1:], false)
	program, ok := p.value("a", "startas", "x", "exec")
	if !ok || p.has("K", "stop", "T", "status") {
		return inv, false
	}
	fields := []field{program}
	for i, f := range inv.fields {
		if f.text == "--" {
			fields = append(fields, inv.fields[i+1:]...)
			break
		}
	}
	return inv.inner(w, fields), true
}

// after handles a program that runs the words after one of its options: fd -x rm.
func (c *walker) after(w *wrapper, inv invocation) (invocation, bool) {
	switch w.name {
	case "bwrap":
		return c.bubblewrap(w, inv)
	case "start-stop-daemon":
		return c.daemon(w, inv)
	}
	c.alone(inv, w.name)
	for i, f := range inv.fields {
		if !hasWord(w.query, f.text) || f.dyn || i+1 == len(inv.fields) {
			continue
		}
		in := inv.inner(w, inv.fields[i+1:])
		if !isOption(f) { // kitty @ launch [OPTIONS] COMMAND
			p := w.grammar.parse(in.fields, true)
			in.fields = p.operands
		}
		if w.name == "capsh" { // words after "--" are arguments of bash
			in.fields = append([]field{literal("bash", f.at(0))}, in.fields...)
		}
		if w.name == "cmake" && !in.fields[0].dyn {
			in.fields = append(cmakeTool(in.fields[0]), in.fields[1:]...)
		}
		if w.name == "fd" || w.name == "fdfind" {
			n := commandEnd(in.fields)
			return c.foundByFd(w, inv, inv.fields[1:i], in.fields[:n])
		}
		return in, len(in.fields) > 0 && !in.fields[0].dyn
	}
	return inv, false
}

// cmakeTool returns the words of a utility that does what a command of `cmake -E` does: cmake(1),
// "Run a Command-Line Tool". Most of these commands have the utility's name.
func cmakeTool(name field) (words []field) {
	utility := map[string]string{
		"chdir": "env -C", "copy": "cp", "copy_directory": "cp -r", "copy_directory_if_different": "cp -r", "copy_if_different": "cp", "copy_if_newer": "cp",
		"create_hardlink": "ln", "create_symlink": "ln -s", "make_directory": "mkdir -p", "remove": "rm", "remove_directory": "rm -r", "rename": "mv",
		"touch_nocreate": "touch -c",
	}[name.text]
	if utility == "" {
		return []field{name}
	}
	for word := range strings.FieldsSeq(utility) {
		words = append(words, literal(word, name.at(0)))
	}
	return words
}

// maven handles mvn exec:exec -Dexec.executable=PROGRAM -Dexec.args=ARGUMENTS: the plugin
// exec-maven-plugin, whose goal exec these settings are for.
func (c *walker) maven(w *wrapper, inv invocation) {
	c.alone(inv, w.name)
	p := w.grammar.parse(inv.fields[1:], false)
	var programs, args []field
	for _, f := range p.values("D", "define") {
		switch name, value, _ := strings.Cut(f.text, "="); name {
		case "exec.executable":
			programs = append(programs, f.from(len(f.text)-len(value)))
		case "exec.args", "exec.arguments":
			args = append(args, f.from(len(f.text)-len(value)))
		}
	}
	for _, program := range programs { // one of them is executed
		c.shellCode(join(append([]field{program}, args...)), w.name, &positional{dyn: true}, inv)
	}
}

// direct lists a runner and what it runs: npx COMMAND, npx -c CODE, nodemon --exec CODE.
func (c *walker) direct(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	c.alone(inv, w.name)
	options := []string{"c", "call", "x", "exec"}
	if w.kind == wrapOption {
		options = strings.Fields(w.query)
	}
	for _, code := range p.values(options...) {
		c.shellCode(code, w.name, &positional{dyn: true}, inv)
	}
	if w.kind == wrapOption || len(p.operands) == 0 {
		return inv, false
	}
	return inv.inner(w, p.operands), true
}

// terminal handles pm2 start CODE.
func (c *walker) terminal(w *wrapper, inv invocation) {
	c.alone(inv, w.name)
	p := w.grammar.parse(inv.fields[1:], true)
	if len(p.operands) < 2 || !hasWord(w.query, p.operands[0].text) {
		return
	}
	if p = w.grammar.parse(p.operands[1:], true); len(p.operands) > w.skip {
		c.shellCode(join(p.operands[w.skip:]), w.name, &positional{dyn: true}, inv)
	}
}

// fedShell handles a program that passes its standard input to a shell.
func (c *walker) fedShell(w *wrapper, inv invocation) {
	in := c.feedOf(inv)
	code, known := in.content()
	inv.opaque = in.kind != feedNone && (!known || code.dyn)
	if in.kind != feedNone {
		c.risk(riskOpaqueInterpreter)
	}
	c.emit(inv, w.name)
	if known {
		c.rerun(code, w.name, dialectAny, &positional{dyn: true}, inv)
	}
}
