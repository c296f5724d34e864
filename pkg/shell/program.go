package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program parses and walks a whole text, in every reading its dialect allows. It reports whether some shell could
// parse the text. The statements before an error are walked too: a shell runs them before it sees the error.
func (c *walker) program(src *source) bool {
	if strings.Contains(src.text, "$\\\n") { // what joins the $ with the next line, the parser takes apart
		c.lack(lackParse)
	}
	readings := src.readings()
	parsed := false
	for _, r := range readings {
		parsed = parsed || r.err == nil
	}
	after := c.scope
	if len(readings) > 1 { // each begins with what was known before
		after = c.scope.child()
	}
	for i, r := range readings {
		if r.err == nil || i == 0 || src.dialect == dialectAny {
			c.readFile(src, r, after)
		}
	}
	if after != c.scope {
		c.scope.merge(after, true)
	}
	if !parsed {
		c.notParsed(readings[0].err)
	}
	return parsed
}

// reading is one of the ways in which a text is read.
type reading struct {
	file  *syntax.File
	err   error
	first bool // it decides what variables hold afterwards
	only  bool // there is no other
	posix bool // no brace expansion
	loose bool // another shell may see other words, which the parser could not make out
}

// readings parses the text in each way that its dialect allows; where the dialect is known, until one succeeds.
func (s *source) readings() []reading {
	langs := s.dialect.readings(s.text)
	var out []reading
	failed := false
	for i, lang := range langs {
		r := reading{first: i == 0, only: len(langs) == 1, posix: lang == syntax.LangPOSIX}
		r.file, r.err = parse(s.text, lang)
		failed = failed || r.err != nil
		if out = append(out, r); r.err == nil && !s.dialect.ambiguous() {
			if i > 0 { // in the place of those that failed
				r.first, r.only = true, true
				return []reading{r}
			}
			break
		}
	}
	out[0].loose = failed && len(out) > 1 && s.dialect == dialectAny
	return out
}

// readFile walks one reading of a text. Of the script itself, whose shell is most likely bash, the second lists only
// commands that begin where the first found none.
func (c *walker) readFile(src *source, r reading, after *scope) {
	if r.file == nil {
		return
	}
	in := *c
	in.src = src
	if !r.only && c.starts == nil {
		c.starts = make(map[int]bool)
	}
	in.posix, in.loose = r.posix, r.loose
	in.first, in.second = r.first && !r.only, !r.first && src.dialect == dialectScript
	if in.scope = after; !r.first {
		in.scope = c.scope.subshell()
	}
	in.stmts(r.file.Stmts)
	if !r.first {
		in.finish()
	}
}

// twice reports whether a simple command that begins at offset was found by an earlier reading, and notes it.
func (c *walker) twice(offset int) bool {
	switch {
	case c.second:
		return c.starts[offset]
	case c.first:
		c.starts[offset] = true
	}
	return false
}

func (c *walker) notParsed(err error) {
	if errors.Is(err, errTooDeep) {
		c.lack(lackDepth)
	} else {
		c.risk(riskSyntaxError)
	}
	c.lack(lackParse)
	if c.depth == 0 && c.errText == "" {
		c.errText = describe(err)
	}
}

// describe is a parse error as line:column: text.
func describe(err error) string {
	var perr syntax.ParseError
	if errors.As(err, &perr) {
		return fmt.Sprintf("%d:%d: %s", perr.Pos.Line(), perr.Pos.Col(), perr.Text)
	}
	var lerr syntax.LangError
	if errors.As(err, &lerr) {
		return fmt.Sprintf("%d:%d: %s is not read by this shell", lerr.Pos.Line(), lerr.Pos.Col(), lerr.Feature)
	}
	return err.Error()
}

// reread reads code again that stands in a word, in the scope of c: the argument of eval, trap. Code that is not
// static is read as it stands, its expansions in place; it is opaque all the same.
func (c *walker) reread(code field, label string, d dialect) {
	if c.depth >= maxDepth || c.nest >= maxDepth {
		c.lack(lackDepth)
		return
	}
	if !c.spend(costStatement + len(code.text)*costReparse) {
		return
	}
	in, ok := c.enter(label)
	if !ok {
		return
	}
	in.depth++
	in.end = 0
	src := code.source(d)
	src.hole, src.alien = c.src.hole, c.src.alien
	in.program(src)
}

// rerun is reread in a new process: sh -c. Only what is exported passes, and what it assigns is gone when it ends.
func (c *walker) rerun(code field, label string, d dialect, args *positional, inv invocation) {
	in := *c
	in.scope = c.scope.subshell()
	in.scope.process = true
	in.scope.args = args
	in.calls = nil
	in.aliases = nil
	in.via = inv.allWrappers(c)
	if inv.dir != nil {
		in.scope.chdir(*inv.dir)
	}
	if inv.input != nil {
		in.stdin = *inv.input
	}
	in.exportPrefix(inv.env)
	in.reread(code, label, d)
	in.finish()
}
