package shell

import (
	"slices"
	"strings"

	"ethos/pkg/snippet"
)

// console is a program with commands of its own, some of which pass a line to a shell: an editor,
// or a client of a database or of a file transfer.
type console struct {
	grammar
	code     string // the options, names without dashes, whose argument is such commands
	operands int    // operands from this one on are commands; -1: none is
	plus     bool   // a word that begins with "+" is a command
	stdin    bool   // the lines of standard input are commands
}

// consoleOf returns the entry of a program; the entries follow the manuals.
func consoleOf(name string) (console, bool) {
	switch name {
	case "vi", "vim", "nvim", "view", "rvim", "rview", "vimx", "ex", "vimdiff", "gvim", "nvi":
		return console{grammar: grammar{short: "c:S:u:i:w:W:T:", long: "cmd= startuptime="}, code: "c cmd", operands: -1, plus: true, stdin: name == "ex" || name == "view"}, true
	case "ed", "red":
		return console{operands: -1, stdin: true}, true
	case "sqlite3", "duckdb":
		return console{grammar: grammar{long: "cmd= init= separator= newline= nullvalue="}, code: "cmd", operands: 1, stdin: true}, true
	case "psql":
		return console{grammar: grammar{short: "c:d:f:h:p:U:v:o:L:P:F:R:T:", long: "command= dbname= file= host= port= username= set= variable= output= log-file="}, code: "c command", operands: -1, stdin: true}, true
	case "mysql", "mariadb":
		return console{grammar: grammar{short: "e:h:P:u:D:S:", long: "execute= host= port= user= database= socket="}, code: "e execute", operands: -1, stdin: true}, true
	case "ftp", "sftp", "telnet", "tftp", "smbclient":
		return console{grammar: grammar{short: "c:b:P:p:o:U:i:"}, code: "c", operands: -1, stdin: true}, true
	case "lftp":
		return console{grammar: grammar{short: "c:e:f:u:p:"}, code: "c e", operands: -1, stdin: true}, true
	case "less", "more", "most", "man":
		return console{operands: -1, plus: true}, true
	case "dc":
		return console{grammar: grammar{short: "e:f:", long: "expression= file="}, code: "e expression", operands: -1, stdin: true}, true
	case "lldb", "cgdb":
		return console{grammar: grammar{short: "o:O:s:", long: "one-line= one-line-before-file="}, code: "o O one-line one-line-before-file", operands: -1, stdin: true}, true
	}
	return console{}, false
}

// consoleCode follows what the commands of a console start and open.
func (c *walker) consoleCode(inv invocation, name string) {
	kind, ok := consoleOf(name)
	if !ok {
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
		if len(f.text) > 2 && f.text[0] == '-' && f.text[1] != '-' && slices.Contains(strings.Fields(names), f.text[1:]) {
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
