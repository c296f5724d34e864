package shell

import (
	"strings"

	"ethos/pkg/gitargs"
)

// doing is one call of a utility: its name, its parsed command line, and its directory.
type doing struct {
	*walker
	by string
	p  parsed
	d  dir
	// whole says that everything below a directory is read or changed, too.
	whole bool
}

// effects records what a command reads and writes.
func (c *walker) effects(inv invocation, name string) {
	do := doing{walker: c, by: name, d: c.dirOf(inv)}
	if gitargs.IsGit(name) {
		do.git(inv)
		c.shown(inv, "git")
		return
	}
	do.words(inv)
	do.variables(inv)
	c.shown(inv, name)
	c.quotedFiles(inv, name)
	c.tasks(inv, name)
	u := findUtility(name)
	if u == nil || u.mentions() {
		c.mentions(inv, name)
	}
	if u == nil || u.effect == effNone {
		return
	}
	if asksOnly(inv.fields[1:]) {
		return
	}
	if u.effect == effDD {
		do.dd(inv)
		return
	}
	if u.effect == effTar {
		do.p = u.grammar.parse(oldTar(inv.fields[1:]), false)
		do.tar(inv)
		return
	}
	do.p = u.grammar.parse(inv.fields[1:], false)
	do.run(u, inv)
}

// asksOnly reports whether a utility is only asked for its help or version.
func asksOnly(args []field) bool {
	for _, f := range args {
		switch f.text {
		case "--":
			return false
		case "--help", "--version":
			return true
		}
	}
	return false
}

func (do *doing) run(u *utility, inv invocation) {
	switch u.effect {
	case effRead:
		do.readAll(do.p.operands)
	case effDelete:
		if u.name != "rm" || !do.prompts(inv) {
			do.writeAll(do.p.operands, opDelete)
		}
	case effCreate:
		do.writeAll(do.p.operands, opCreate)
	case effWrite:
		do.writeAll(do.p.operands, opWrite)
	case effMode:
		do.mode(u)
	case effTouch:
		do.touch()
	case effMove:
		do.transfer(opMove)
	case effCopy:
		do.transfer(opRead)
	case effInstall:
		do.install()
	case effLink:
		do.link()
	case effTee:
		do.tee(inv)
	case effTruncate:
		do.writeAll(do.p.operands, opTruncate)
	case effShred:
		do.shred()
	case effMknod:
		do.writeAll(do.p.operands[:min(1, len(do.p.operands))], opCreate)
	default:
		do.runMore(u, inv)
	}
}

func (do *doing) runMore(u *utility, inv invocation) {
	switch u.effect {
	case effPatch:
		do.patch()
	case effSed:
		do.sed(inv)
	case effPerl:
		do.perl()
	case effAwk:
		do.awk()
	case effUnzip:
		do.unzip()
	case effZip:
		do.zip(inv)
	case effRsync:
		do.rsync(inv)
	case effCurl:
		do.curl()
	case effWget:
		do.wget()
	case effInPlace:
		do.inPlace(u)
	case effPack:
		do.pack()
	case effOutput:
		do.outputOption(u, inv.fields[1:])
	case effGo:
		do.golang(u, inv.fields[1:])
	case effSort:
		do.sort()
	case effGrep:
		do.grep()
	case effSplit:
		do.split(inv)
	case effScp:
		do.sshOptions(inv)
		do.scp()
	case effSSH:
		do.sshOptions(inv)
	case effArchive:
		do.archive()
	case effIconv:
		do.filter()
	case effEditor:
		do.writeAll(do.p.operands, opWrite)
	case effCrontab:
		do.readAll(do.p.operands)
	case effGio:
		do.gio()
	case effTemporary:
		do.temporary()
	case effServe:
		do.serve(u)
	}
}

func (do *doing) readOne(f field) {
	if f.text == "-" {
		return
	}
	if f.sub == nil {
		do.read(do.place(f), do.by)
	}
}

func (do *doing) readAll(fields []field) {
	for _, f := range fields {
		do.readOne(f)
	}
}

func (do *doing) writeOne(f field, op string) {
	if f.sub == nil {
		if f.alien && op == opDelete {
			do.risk(riskUnlistedDelete)
		}
		do.write(do.place(f), do.by, op)
	}
}

// place is locate for a file of the command.
func (do *doing) place(f field) target {
	at := do.locate(f, do.d)
	at.whole = do.whole || f.whole
	return at
}

func (do *doing) writeAll(fields []field, op string) {
	for _, f := range fields {
		do.writeOne(f, op)
	}
}

// prompts reports rm -i, which asks for each file and treats a missing answer as no. Only a person
// at a terminal, or an input, can answer.
func (do *doing) prompts(inv invocation) bool {
	asks := false
	for _, o := range do.p.options {
		switch {
		case o.name == "i" || o.name == "interactive" && (!o.has || o.value.text == "always" || o.value.text == "yes"):
			asks = true
		case o.name == "f" || o.name == "force" || o.name == "interactive":
			asks = false
		}
	}
	return asks && do.feedOf(inv).kind == feedNone
}

// mode handles chmod MODE FILE…. There is no mode operand with --reference, or if the mode looks
// like an option (-x).
func (do *doing) mode(u *utility) {
	operands := do.p.operands
	_, reference := do.p.value("reference", "restore")
	switch {
	case u.name == "setfacl", reference:
	case u.name == "chmod" && do.dashMode():
	case u.name == "chattr" && do.p.has("i", "a", "u", "s", "d", "A", "S", "c", "j", "t", "e", "C") && !do.signed():
	case len(operands) > 0:
		operands = operands[1:]
	}
	do.whole = do.p.has("R", "recursive")
	do.writeAll(operands, opMode)
}

// dashMode reports chmod -x, -rw, -w: letters that are modes, not options.
func (do *doing) dashMode() bool { return do.p.has("r", "w", "x", "X", "s", "t", "u", "g", "o") }

// signed reports whether the first operand is +i or =i.
func (do *doing) signed() bool {
	return len(do.p.operands) > 0 && strings.ContainsAny(do.p.operands[0].text[:min(1, len(do.p.operands[0].text))], "+=")
}

func (do *doing) touch() {
	if do.p.has("c", "no-create", "h") {
		do.writeAll(do.p.operands, opWrite)
		return
	}
	do.writeAll(do.p.operands, opCreate)
}

func (do *doing) tee(inv invocation) {
	op := opTruncate
	if do.p.has("a", "append") {
		op = opAppend
	}
	do.writeAll(do.p.operands, op)
	text, known := do.feedOf(inv).content()
	for _, f := range do.p.operands {
		do.keep(do.locate(f, do.d), text, known, op == opAppend)
	}
}

func (do *doing) shred() {
	op := opTruncate
	if do.p.has("u", "remove") {
		op = opDelete
	}
	do.writeAll(do.p.operands, op)
}

// dd handles dd, which reads if= or standard input and writes of=.
func (do *doing) dd(inv invocation) {
	text, known := do.feedOf(inv).content()
	for _, f := range inv.fields[1:] {
		if strings.HasPrefix(f.text, "if=") {
			do.readOne(tail(f, 3))
			text, known = do.content(tail(f, 3), inv)
		}
	}
	for _, f := range inv.fields[1:] {
		if strings.HasPrefix(f.text, "of=") {
			do.writeOne(tail(f, 3), opWrite)
			do.keep(do.locate(tail(f, 3), do.d), text, known, false)
		}
	}
}

// tail returns f without its first n bytes. A ~ that follows still means the home directory.
func tail(f field, n int) field {
	g := f.from(n)
	return g
}

// grep records that grep reads its operands. The first operand is the pattern, unless an option
// gives it.
func (do *doing) grep() {
	if f, ok := do.p.value("f", "file", "from-file"); ok {
		do.readOne(f)
		do.readAll(do.p.operands)
		return
	}
	if do.p.has("e", "regexp", "files") {
		do.readAll(do.p.operands)
	} else if len(do.p.operands) > 1 {
		do.readAll(do.p.operands[1:])
	}
}
