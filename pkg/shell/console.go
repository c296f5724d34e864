package shell

import (
	"strings"

	"ethos/pkg/snippet"
)

// console is a program with commands of its own, some of which pass a line to a shell: an editor,
// or a client of a database or of a file transfer.
type console struct {
	name string
	grammar
	code     string // the options, names without dashes, whose argument is such commands
	operands int    // operands from this one on are commands; -1: none is
	plus     bool   // a word that begins with "+" is a command
	stdin    bool   // the lines of standard input are commands
}

// findConsole returns the entry of a name, or nil.
func findConsole(name string) *console {
	return lookup(consoles[:], name, func(c *console) string { return c.name })
}

// consoleCode follows what the commands of a console start and open.
func (c *walker) consoleCode(inv invocation, name string) {
	kind := findConsole(name)
	if kind == nil {
		return
	}
	p := kind.parse(oneDash(inv.fields[1:], kind.code), false)
	code := p.values(strings.Fields(kind.code)...)
	for i, f := range p.operands {
		switch {
		case kind.operands >= 0 && i >= kind.operands:
			code = append(code, f)
		case kind.plus && strings.HasPrefix(f.text, "+") && len(f.text) > 1:
			code = append(code, f.from(1))
		}
	}
	if in := c.feedOf(inv); kind.stdin {
		if f, ok := in.static(); ok {
			code = append(code, f)
		}
	}
	for _, f := range code {
		inv.input = &feed{closed: true}
		c.snippet(inv, name, snippet.Read(snippet.Console, f.text))
	}
}

// oneDash gives long options that are written with one dash, as for sqlite3, two dashes.
func oneDash(args []field, names string) []field {
	var out []field
	for i, f := range args {
		if len(f.text) > 2 && f.text[0] == '-' && f.text[1] != '-' && hasWord(names, f.text[1:]) {
			if out == nil {
				out = append([]field(nil), args...)
			}
			out[i] = f
			out[i].text = "-" + f.text
		}
	}
	if out == nil {
		return args
	}
	return out
}
