package shell

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program parses and walks a whole text in every reading that its dialect allows. It reports
// whether some shell could parse the text. The statements before an error are walked too, because a
// shell runs them before it reaches the error.
func (c *walker) program(src *source) bool {
	if strings.Contains(src.text, "$\\\n") { // the parser splits a $ that the shell joins with the next line
		c.lack(lackParse)
	}
	readings := src.readings()
	parsed := false
	for _, r := range readings {
		parsed = parsed || r.err == nil
	}
	after := c.scope
	if len(readings) > 1 { // each starts with what was known before
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

// reading is one way to read a text.
type reading struct {
	file  *syntax.File
	err   error
	first bool // it determines the values of variables afterwards
	only  bool // it is the only one
	posix bool // no brace expansion
	loose bool // another shell may read other words, which the parser could not determine
}

// readings parses the text in each way that its dialect allows. If the dialect is known, it stops
// at the first that succeeds.
func (s *source) readings() []reading {
	langs := s.dialect.readings(s.text)
	var out []reading
	failed := false
	for i, lang := range langs {
		r := reading{first: i == 0, only: len(langs) == 1, posix: lang == syntax.LangPOSIX}
		r.file, r.err = parse(s.text, lang)
		failed = failed || r.err != nil
		if out = append(out, r); r.err == nil && !s.dialect.ambiguous() {
			if i > 0 { // it replaces those that failed
				r.first, r.only = true, true
				return []reading{r}
			}
			break
		}
	}
	out[0].loose = failed && len(out) > 1 && s.dialect == dialectAny
	return out
}

// readFile walks one reading of a text. For the script itself, whose shell is most likely bash, the
// second reading lists only commands that begin where the first found none.
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

// twice reports whether an earlier reading found a simple command at offset, and records this one.
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

// describe formats a parse error as line:column: text.
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

// reread analyses code that is in a word, such as the argument of eval or trap, in the scope of c.
// Code that is not static is read as written, with its expansions in it, and counts as opaque.
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

// rerun is reread in a new process: sh -c. Only exported variables pass, and assignments end with
// the process.
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
