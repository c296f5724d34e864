package shell

import (
	"slices"
	"strings"

	"ethos/pkg/snippet"
)

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
		case snippet.Match:
			f := c.snippetWord(act.Words[0], at)
			f.glob, f.many = true, true
			c.write(c.locate(f, d), name, opDelete)
		case snippet.Enter:
			d = c.enterDir(c.snippetWord(act.Words[0], at), d)
			in := d
			inv.dir = &in
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
	return slices.ContainsFunc(acts, func(act snippet.Act) bool { return act.Kind == snippet.Opaque })
}
