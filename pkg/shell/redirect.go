package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const byRedirect = "redirect"

// redirected records redirections and returns the walker of the command that has them, with its
// standard input and output.
func (c *walker) redirected(redirs []*syntax.Redirect) *walker {
	in := *c
	in.replaced = slices.Clip(in.replaced)
	for _, r := range redirs {
		if !c.spend(costStatement) {
			break
		}
		c.scanWord(r.Word)
		if r.Hdoc != nil && !quotedStop(r.Word) {
			c.scanParts(r.Hdoc.Parts, true)
		}
		f, replaced, ok := c.redirect(r)
		if ok {
			in.stdin = f
		}
		in.replaced = append(in.replaced, replaced...)
		in.kept = keeps(r, in.kept)
	}
	return &in
}

// keeps reports whether standard output goes into a file after a redirection, and not to a device on
// which the caller sees it.
func keeps(r *syntax.Redirect, before bool) bool {
	switch r.Op {
	case syntax.RdrAll, syntax.AppAll:
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.DplOut:
		if r.N != nil && r.N.Value != "1" {
			return before
		}
	default:
		return before
	}
	switch name := r.Word.Lit(); {
	case r.Op == syntax.DplOut && strings.Trim(name, "0123456789-") == "":
		return false
	case name == "/dev/stdout" || name == "/dev/fd/1":
		return before
	}
	return !strings.HasPrefix(r.Word.Lit(), "/dev/") || r.Word.Lit() == "/dev/null"
}

// redirect records one redirection. It returns the new standard input if that changes, and
// the files that standard output replaces.
func (c *walker) redirect(r *syntax.Redirect) (in feed, replaced []string, changed bool) {
	input := r.N == nil || r.N.Value == "0"
	if (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && closesMore(r.Word) {
		c.lack(lackParse)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return c.heredoc(r), nil, input
	case syntax.WordHdoc:
		return c.herestring(r.Word), nil, input
	case syntax.RdrIn:
		return c.inputFile(r), nil, input
	case syntax.DplIn:
		if r.Word.Lit() == "-" {
			return feed{closed: true}, nil, input && c.stdin.kind == feedNone
		}
		return feed{kind: feedFile, terminal: true}, nil, input && r.Word.Lit() != "0"
	}
	replaced = c.outputFile(r)
	return feed{kind: feedFile, terminal: typedFile(r.Word.Lit(), true)}, replaced, r.Op == syntax.RdrInOut && input
}

func (c *walker) inputFile(r *syntax.Redirect) feed {
	result := feed{kind: feedFile, in: c}
	c.each(r.Word, func(f field) {
		if f.sub != nil {
			result = feed{kind: feedProcess, stmts: f.sub.stmts, in: c}
			return
		}
		t := c.locate(f, c.scope.dir())
		if harmless(t.shown) {
			result = c.deviceInput(t.shown)
			return
		}
		result.terminal, result.file, result.text = typedFile(t.shown, true), t.absolute, field{offset: f.at(0)}
		c.read(t, byRedirect)
	})
	return result
}

// deviceInput returns the standard input from a device: /dev/null is empty, /dev/stdin changes
// nothing.
func (c *walker) deviceInput(device string) feed {
	switch device {
	case "/dev/stdin", "/dev/fd/0":
		return c.stdin
	case "/dev/null":
		return feed{closed: true}
	}
	return feed{kind: feedFile, terminal: true}
}

// outputFile records an output redirection. It returns the files that standard output replaces, as
// in [Analysis.Replaced].
func (c *walker) outputFile(r *syntax.Redirect) (replaced []string) {
	op := opTruncate
	switch r.Op {
	case syntax.AppOut, syntax.AppAll, syntax.AppClob, syntax.AppAllClob:
		op = opAppend
	case syntax.RdrInOut:
		op = opWrite
	}
	c.each(r.Word, func(f field) {
		if r.Op == syntax.DplOut && descriptor(f) || f.sub != nil {
			return
		}
		t := c.locate(f, c.scope.dir())
		if f.text == "" {
			t = target{shown: "\"\""}
		}
		if harmless(t.shown) {
			return
		}
		c.risk(riskRedirect)
		c.write(t, byRedirect, op)
		switch {
		case op != opTruncate || r.N != nil && r.N.Value != "1":
		case t.absolute != "":
			replaced = append(replaced, t.absolute)
		default:
			replaced = append(replaced, c.src.slice(int(r.Word.Pos().Offset()), int(r.Word.End().Offset())))
		}
	})
	return replaced
}

// closesMore reports whether a word such as -rm follows >&. In bash >&- ends there, and rm begins
// another word.
func closesMore(w *syntax.Word) bool {
	lit, ok := w.Parts[0].(*syntax.Lit)
	return ok && strings.HasPrefix(lit.Value, "-") && (len(lit.Value) > 1 || len(w.Parts) > 1)
}

// descriptor reports whether the word after >& names a descriptor: 1, -, 1-; any other word is a file.
func descriptor(f field) bool {
	if f.dyn {
		return false
	}
	digits := strings.TrimSuffix(f.text, "-")
	return f.text != "" && strings.Trim(digits, "0123456789") == ""
}
