package shell

import (
	"strings"

	"ethos/pkg/snippet"
)

// languageOf returns the language of an interpreter's code, if package snippet reads it.
func languageOf(name string) snippet.Language {
	switch strings.TrimRight(name, "0123456789.-") {
	case "python", "pypy", "ipython", "pythonw", "jython", "micropython", "pylint":
		return snippet.Python
	case "node", "nodejs", "tsx", "ts-node", "deno", "bun":
		return snippet.JavaScript
	case "ruby", "jruby", "irb", "mruby", "rake", "pry":
		return snippet.Ruby
	case "perl":
		return snippet.Perl
	case "php", "php-cli":
		return snippet.PHP
	case "lua", "luajit", "luau", "texlua":
		return snippet.Lua
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk", "busybox-awk":
		return snippet.Awk
	case "R", "Rscript", "littler":
		return snippet.R
	case "julia":
		return snippet.Julia
	case "osascript":
		return snippet.AppleScript
	case "tclsh", "wish", "jimsh", "expect":
		return snippet.Tcl
	case "make", "gmake":
		return snippet.Makefile
	case "emacs", "emacsclient", "guile", "racket", "sbcl", "clojure", "clj", "bb", "ecl", "clisp", "csi", "gsi", "mit-scheme", "scheme", "chezscheme", "gosh":
		return snippet.Lisp
	case "pwsh", "powershell":
		return snippet.PowerShell
	case "gdb", "octave", "octave-cli", "gnuplot", "bpftrace", "r", "radare", "rizin":
		return snippet.Console
	}
	return snippet.None
}

// snippet follows the commands that an interpreter's code starts and the files that it opens.
func (c *walker) snippet(inv invocation, name string, acts []snippet.Act) {
	at, d := inv.fields[0].at(0), c.dirOf(inv)
	for _, act := range acts {
		if !c.spend(costStatement) {
			return
		}
		switch act.Kind {
		case snippet.Shell:
			c.shellCode(c.snippetWord(act.Words[0], at), name, &positional{dyn: true}, inv)
		case snippet.Start:
			run := inv
			run.fields, run.code, run.opaque, run.silent = nil, "", false, false
			run.noFunc, run.noShell = true, true
			for _, word := range act.Words {
				run.fields = append(run.fields, c.snippetWord(word, at))
			}
			c.dispatch(run)
		case snippet.Open:
			c.read(c.locate(c.snippetWord(act.Words[0], at), d), name)
		case snippet.Write:
			c.write(c.locate(c.snippetWord(act.Words[0], at), d), name, opWrite)
		case snippet.Delete, snippet.Tree:
			c.write(c.locate(c.snippetWord(act.Words[0], at), d), name, opDelete)
		}
	}
}

// snippetWord returns a word of the code. Its position is that of the interpreter.
func (c *walker) snippetWord(text string, at int) field {
	f := field{text: text, runs: runs{{offset: at, fixed: true}}, offset: at}
	if text == "~" || strings.HasPrefix(text, "~/") {
		if f.home = c.opt.Home == ""; !f.home {
			f.text = c.opt.Home + text[1:]
		}
	}
	f.dyn = strings.Contains(text, snippet.Unknown)
	return f
}

// decodes reports whether code is decoded while it runs.
func decodes(acts []snippet.Act) bool {
	for _, act := range acts {
		if act.Kind == snippet.Opaque {
			return true
		}
	}
	return false
}
