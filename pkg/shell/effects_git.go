package shell

import (
	"strings"

	"ethos/pkg/gitargs"
)

// git records the paths of the work tree that a git command changes, and follows the code that it
// runs: an alias with an exclamation mark, bisect run, rebase --exec.
func (do *doing) git(inv invocation) {
	ctx := gitargs.Context{Env: recorded(inv.env)}
	if do.cwd(inv) == do.opt.Cwd && do.opt.Cwd != "" {
		ctx = do.opt.Git
		ctx.Env = append(ctx.Env[:len(ctx.Env):len(ctx.Env)], recorded(inv.env)...)
	}
	ctx.Partial, ctx.Name = partial(inv.fields), baseName(inv.fields[0].text)
	reading := gitargs.Read(argv(inv.fields), ctx)
	for _, w := range reading.Writes {
		f := field{text: w.Path, dyn: !w.Certain, home: strings.HasPrefix(w.Path, "~/")}
		do.write(do.locate(f, do.d), w.By, w.Op)
	}
	for _, run := range reading.Runs {
		do.gitRun(inv, reading, run)
	}
}

// gitRun follows one piece of code that git starts. A program git-NAME is part of git and not
// followed.
func (do *doing) gitRun(inv invocation, reading gitargs.Reading, run gitargs.Run) {
	if run.Via == "external" || strings.HasPrefix(run.Via, "command ") {
		return
	}
	next := inv
	next.fields, next.env = do.gitWords(inv, run.Argv), nil
	if reading.Dir != "" {
		d := do.enterDir(field{text: reading.Dir}, do.d)
		next.dir = &d
	}
	label := "git " + run.Via
	if run.Script != "" {
		args := positionals(append([]field{literal("git", 0)}, next.fields...))
		do.shellCode(gitText(inv, run.Script), label, args, next)
		return
	}
	if in, ok := do.enter(label); ok && len(next.fields) > 0 {
		in.via = next.allWrappers(do.walker)
		next.wrappers, next.noFunc, next.noShell = nil, true, true
		in.dispatch(next)
	}
}

// gitText returns code that git was given, with its position if it is in one of git's words.
func gitText(inv invocation, text string) field {
	for _, f := range inv.fields {
		if i := strings.Index(f.text, text); i >= 0 && !f.dyn {
			g := f.from(i)
			g.text = text
			return g
		}
	}
	at := inv.fields[0].at(0)
	return field{text: text, offset: at, runs: runs{{offset: at, fixed: true}}}
}

func (do *doing) gitWords(inv invocation, words []*string) []field {
	out := make([]field, len(words))
	for i, w := range words {
		if w == nil {
			out[i] = field{text: "$@", dyn: true, offset: inv.fields[0].at(0)}
			continue
		}
		out[i] = gitText(inv, *w)
	}
	return out
}
