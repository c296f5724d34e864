package shell

import (
	"slices"
	"strings"

	"ethos/pkg/ethosargs"
)

// unwrap removes the wrapper w from a command. It returns what the wrapper runs, or false if that
// has been handled.
func (c *walker) unwrap(w *wrapper, inv invocation) (invocation, bool) {
	switch w.kind {
	case wrapFind:
		c.find(inv)
		return inv, false
	case wrapXargs:
		return c.xargs(w, inv)
	case wrapParallel, wrapTerminal, wrapTmux, wrapMaven:
		c.codes(w, inv)
		return inv, false
	case wrapCarrier:
		return c.carried(w, inv)
	case wrapNetns:
		return c.netns(w, inv)
	case wrapAfter:
		return c.after(w, inv)
	case wrapSandbox:
		return c.confined(w, inv)
	}
	p := w.grammar.parse(inv.fields[1:], w.kind != wrapSu && w.kind != wrapScript)
	if w.query != "" && w.kind != wrapOption && p.has(strings.Fields(w.query)...) {
		c.alone(inv, w.name)
		if w.name == "sudo" && p.has("e", "edit") {
			for _, f := range p.operands {
				c.write(c.locate(f, c.dirOf(inv)), w.name, opWrite)
			}
		}
		return inv, false
	}
	if p.unsure {
		c.lack(lackUnresolved)
	}
	c.wrapperEffects(w, &p, inv)
	switch w.kind {
	case wrapSu:
		return c.su(w, &p, inv)
	case wrapString:
		return c.commandString(w, &p, inv)
	case wrapFlock:
		return c.flock(w, &p, inv)
	case wrapScript:
		return c.script(w, &p, inv)
	case wrapArch:
		return c.setarch(w, &p, inv)
	case wrapOption, wrapDirect:
		return c.direct(w, &p, inv)
	case wrapInput:
		c.fedShell(w, inv)
		return inv, false
	}
	return c.plainWrapper(w, &p, inv)
}

// codes follows a wrapper that runs code, or several commands.
func (c *walker) codes(w *wrapper, inv invocation) {
	switch w.kind {
	case wrapParallel:
		c.parallel(w, inv)
	case wrapTerminal:
		c.terminal(w, inv)
	case wrapTmux:
		c.tmux(w, inv)
	case wrapMaven:
		c.maven(w, inv)
	}
}

// alone lists a wrapper that runs nothing.
func (c *walker) alone(inv invocation, name string) { c.simple(inv, name) }

func (inv invocation) inner(w *wrapper, fields []field) invocation {
	in := inv
	in.fields = fields
	in.wrappers = append(inv.wrappers[:len(inv.wrappers):len(inv.wrappers)], w.name)
	in.noFunc = true
	in.noShell = inv.noShell || w.kind != wrapBuiltin || w.name == "exec"
	return in
}

// plainWrapper handles a wrapper whose operands, after some of its own, are the command.
func (c *walker) plainWrapper(w *wrapper, p *parsed, inv invocation) (invocation, bool) {
	in := inv.inner(w, p.operands)
	if w.kind == wrapAssign {
		in = c.envOperands(w, p, in)
	}
	c.wrapperDir(w, p, &in)
	if len(in.fields) > w.skip {
		for _, f := range in.fields[:w.skip] {
			if f.many {
				c.lack(lackUnresolved)
			}
		}
		in.fields = in.fields[w.skip:]
		return in, true
	}
	if w.kind == wrapShell || p.has("s", "i", "shell", "login") && w.kind == wrapAssign && w.name != "env" {
		in.fields = []field{literal("sh", inv.fields[0].offset)}
		c.interpret(in, "sh", interpreter{dialect: dialectAny})
		return inv, false
	}
	c.alone(inv, w.name)
	return inv, false
}

// envOperands takes NAME=VALUE operands, and the words of env -S, which precede the other operands.
func (c *walker) envOperands(w *wrapper, p *parsed, in invocation) invocation {
	if w.name == "env" {
		in.cleared = in.cleared || p.has("i", "ignore-environment") || unsets(p)
		if f, ok := p.value("S", "split-string"); ok {
			in.fields = append(splitString(f), p.operands...)
			in.fields = c.envSplit(in.fields, &in)
		}
		if len(in.fields) > 0 && in.fields[0].text == "-" { // the same as -i
			in.cleared = true
			in.fields = in.fields[1:]
		}
	}
	for len(in.fields) > 0 {
		n := assignmentName(in.fields[0].text)
		if eq := strings.IndexByte(in.fields[0].text, '='); n == 0 && eq > 0 && w.name == "env" {
			n = eq + 1
		}
		if n == 0 {
			break
		}
		a := assignment{name: in.fields[0].text[:n-1], value: in.fields[0].from(n)}
		c.givenVariable(a)
		if a.value.many {
			c.lack(lackUnresolved)
		}
		in.env = append(in.env[:len(in.env):len(in.env)], a)
		in.fields = in.fields[1:]
	}
	return in
}

// unsets reports whether env removes a variable that controls ethos's own programs.
func unsets(p *parsed) bool {
	return slices.ContainsFunc(p.values("u", "unset"), func(f field) bool { return !f.static() || ethosargs.Steers(f.text) })
}

// envSplit takes the options at the beginning of the words of env -S.
func (c *walker) envSplit(fields []field, in *invocation) []field {
	if len(fields) == 0 || !isOption(fields[0]) {
		return fields
	}
	w := findWrapper("env")
	p := w.grammar.parse(fields, true)
	in.cleared = in.cleared || p.has("i", "ignore-environment") || unsets(&p)
	c.wrapperDir(w, &p, in)
	return p.operands
}

// wrapperDir applies the option that makes the command run in another directory.
func (c *walker) wrapperDir(w *wrapper, p *parsed, in *invocation) {
	if w.elsewhere {
		in.dir = &dir{unknown: true}
		return
	}
	if f, ok := p.value(strings.Fields(w.chdir)...); ok {
		d := c.enterDir(f, c.dirOf(*in))
		in.dir = &d
		c.risk(riskCd)
	}
}

// wrapperEffects records what a wrapper itself writes.
func (c *walker) wrapperEffects(w *wrapper, p *parsed, inv invocation) {
	f, ok := p.value(strings.Fields(w.output)...)
	switch w.name {
	case "script":
		c.scriptFiles(p, inv)
		return
	case "logsave":
		if len(p.operands) > 0 {
			f, ok = p.operands[0], true
		}
	case "screen":
		f, ok = screenLog(inv.fields)
	case "flock":
		if len(p.operands) > 0 {
			if _, fd := p.operands[0].number(); !fd {
				c.write(c.locate(p.operands[0], c.dirOf(inv)), w.name, opCreate)
			}
		}
		return
	}
	if ok && !strings.HasPrefix(f.text, "|") && !strings.HasPrefix(f.text, "!") {
		c.write(c.locate(f, c.dirOf(inv)), w.name, opWrite)
	} else if ok && w.name == "strace" {
		c.rerun(f.from(1), "strace -o", dialectAny, &positional{dyn: true}, inv)
	}
}

// screenLog returns the file that screen -L -Logfile FILE writes.
func screenLog(fields []field) (field, bool) {
	for i, f := range fields[:len(fields)-1] {
		if f.text == "-Logfile" {
			return fields[i+1], true
		}
	}
	return field{}, false
}
