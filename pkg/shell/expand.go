package shell

import (
	"cmp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expander builds the fields of one word.
type expander struct {
	e        *eval
	b        fieldBuilder
	out      []field
	open     bool // a field is being built, even if it is still empty
	whole    bool // no splitting, no patterns
	assigned bool // the word is an assigned value: ~ also counts after a colon
	bracket  bool // an active [ was found
}

// flush ends the field that is being built.
func (x *expander) flush() {
	if !x.open {
		x.b.take()
		return
	}
	f := x.b.take()
	x.e.c.spend(len(f.text))
	if len(f.text) > maxValue {
		f = field{text: clip(f.text, maxRaw), dyn: true, offset: f.offset}
	}
	x.out = append(x.out, f)
	x.open, x.bracket = false, false
}

func (x *expander) parts(parts []syntax.WordPart) {
	if len(parts) == 1 {
		if ps, ok := parts[0].(*syntax.ProcSubst); ok {
			x.b.f.sub = &substitution{stmts: ps.Stmts, in: x.e.c, read: ps.Op != syntax.CmdOut}
		}
	}
	for i, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			x.lit(part, i == 0, i == len(parts)-1)
		case *syntax.SglQuoted:
			x.open = true
			x.single(part)
		case *syntax.DblQuoted:
			x.double(part)
		case *syntax.ParamExp:
			x.param(part, false)
		case *syntax.CmdSubst:
			x.command(part, false)
		case *syntax.ExtGlob:
			if part.Op == syntax.GlobExcept { // all names but a few
				x.open = true
				x.b.fixed("*", x.e.c.src.at(int(part.Pos().Offset())))
			} else {
				x.unknown(part)
				x.b.f.many = false
			}
			x.b.f.glob = true
		default:
			x.unknown(part)
			x.b.f.many = false
		}
	}
}

// unknown inserts the source text of an expansion in place of its value.
func (x *expander) unknown(n syntax.Node) {
	src := x.e.c.src
	from := int(n.Pos().Offset())
	x.open = true
	x.b.f.many = !x.whole
	x.b.text(clip(src.slice(from, int(n.End().Offset())), maxValue), src.at(from))
	x.b.unsure()
}

// lit expands an unquoted literal: it removes backslashes, expands a leading ~, and activates
// pattern characters.
func (x *expander) lit(l *syntax.Lit, first, last bool) {
	text, offset := l.Value, int(l.ValuePos.Offset())
	x.open = x.open || text != ""
	if first && strings.HasPrefix(text, "~") {
		n := x.tilde(text, offset, last)
		text, offset = text[n:], offset+n
	} else if n := assignmentName(text); first && n > 0 && strings.HasPrefix(text[n:], "~") {
		x.literal(text[:n], offset)
		n += x.tilde(text[n:], offset+n, last)
		text, offset = text[n:], offset+n
	}
	if x.assigned {
		x.colons(text, offset, last)
		return
	}
	x.literal(text, offset)
}

// colons expands a literal of an assigned value, where ~ also counts after a colon.
func (x *expander) colons(text string, offset int, last bool) {
	for {
		n := strings.Index(text, ":~")
		if n < 0 {
			x.literal(text, offset)
			return
		}
		x.literal(text[:n+1], offset)
		n++
		n += x.tilde(text[n:], offset+n, last)
		text, offset = text[n:], offset+n
	}
}

// unseen marks a word as containing a marker for run-time input.
func (x *expander) unseen() {
	x.b.unsure()
	x.b.f.alien = x.b.f.alien || x.e.c.src.alien
}

func (x *expander) literal(text string, offset int) {
	if x.e.holed(text) {
		defer x.unseen()
	}
	src := x.e.c.src
	start := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i+1 == len(text) {
				break // the last character of the script stays
			}
			x.b.text(text[start:i], src.at(offset+start))
			i++
			start = i
		case '*', '?':
			x.b.f.glob = x.b.f.glob || !x.whole
		case '[':
			x.bracket = true
		case ']':
			x.b.f.glob = x.b.f.glob || x.bracket && !x.whole
		}
	}
	if start < len(text) {
		x.b.text(text[start:], src.at(offset+start))
	}
}

// tilde expands the ~ at the beginning of text and returns how many bytes of text it has used.
func (x *expander) tilde(text string, offset int, last bool) int {
	n := strings.IndexAny(text, "/:")
	if n < 0 || text[n] == ':' && !x.assigned {
		if n = strings.IndexByte(text, '/'); n < 0 {
			n = len(text)
		}
	}
	if n == len(text) && !last || strings.ContainsAny(text[:n], "\\*?[") {
		return 0
	}
	at := x.e.c.src.at(offset)
	switch text[1:n] {
	case "":
		x.home(at)
	case "+", "-":
		name := "PWD"
		if text[1] == '-' {
			name = "OLDPWD"
		}
		v := x.e.variable(name)
		x.b.fixed(v.text, at)
		if v.dyn {
			x.b.unsure()
		}
	default:
		x.b.f.home = len(x.b.buf) == 0
		x.b.text(text[:n], at)
	}
	return n
}

func (x *expander) home(at int) {
	v := x.e.variable("HOME")
	if v.dyn && v.text == "~" {
		x.b.f.home = len(x.b.buf) == 0
		x.b.fixed("~", at)
		return
	}
	x.b.fixed(v.text, at)
	if v.dyn {
		x.b.unsure()
	}
}

func (x *expander) single(q *syntax.SglQuoted) {
	src := x.e.c.src
	offset := int(q.Left.Offset()) + 1
	if x.e.holed(q.Value) {
		defer x.unseen()
	}
	if !q.Dollar {
		x.b.text(q.Value, src.at(offset))
		return
	}
	for _, piece := range ansiC(q.Value) {
		x.b.add(piece.text, src.at(offset+1+piece.at), piece.escaped)
	}
	if x.e.c.loose && !x.e.head {
		x.b.unsure()
	}
}

// double expands a double-quoted part: its expansions are not split.
func (x *expander) double(q *syntax.DblQuoted) {
	if len(q.Parts) == 0 {
		x.open = true
	}
	x.quotedParts(q.Parts, "\"\\$`")
}

// quotedParts expands the inside of double quotes or of a here-document. A backslash is special
// before the given characters.
func (x *expander) quotedParts(parts []syntax.WordPart, special string) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			x.open = true
			x.quotedLit(part, special)
		case *syntax.ParamExp:
			x.param(part, true)
		case *syntax.CmdSubst:
			x.open = true
			x.command(part, true)
		default:
			x.unknown(part)
			x.b.f.many = false
		}
	}
}

func (x *expander) quotedLit(l *syntax.Lit, special string) {
	text, src := l.Value, x.e.c.src
	offset, start := int(l.ValuePos.Offset()), 0
	if x.e.holed(text) {
		defer x.unseen()
	}
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' && strings.IndexByte(special, text[i+1]) >= 0 {
			x.b.text(text[start:i], src.at(offset+start))
			i++
			start = i
		}
	}
	x.b.text(text[start:], src.at(offset+start))
}

// command expands a command substitution: it is static if its output is. For an output that is only
// possible, because it is in a file, that and an unknown one are both tried.
func (x *expander) command(s *syntax.CmdSubst, quoted bool) {
	before := x.e.c.possible
	f, known := x.e.c.printed(s.Stmts)
	text, ok := f.text, known && !f.dyn
	x.b.f.secret = cmp.Or(x.b.f.secret, f.secret)
	if known && f.dyn && x.e.c.possible > before {
		i, chosen := x.e.choose("$("+strconv.Itoa(x.e.c.src.at(int(s.Left.Offset()))), 2)
		ok = chosen && i == 0
	}
	switch at := x.e.c.src.at(int(s.Left.Offset())); {
	case !ok && (!x.e.head || x.e.values) && !x.whole && len(x.b.buf) == 0 && (quoted || !x.open) && x.names(s.Stmts, at, quoted):
		return
	case !ok:
		x.unknown(s)
		x.b.f.many = !quoted && !x.whole
		return
	}
	x.value(strings.TrimRight(text, "\n"), x.e.c.src.at(int(s.Left.Offset())), quoted)
}

// names appends the names that a program lists: rm $(find . -name x). It reports whether it knows
// them.
func (x *expander) names(stmts []*syntax.Stmt, offset int, quoted bool) bool {
	list := x.e.c.listed(feed{kind: feedProcess, stmts: stmts, in: x.e.c})
	if quoted && len(list) > 1 {
		return false
	}
	for i, name := range list {
		if i > 0 {
			x.flush()
		}
		x.open = true
		x.b.fixed(name.text, offset)
		x.b.unsure()
		x.b.f.many, x.b.f.whole = !quoted, name.whole
	}
	return len(list) > 0
}

// value appends the static value of an expansion, and splits it if it is not quoted.
func (x *expander) value(text string, offset int, quoted bool) {
	if quoted || x.whole {
		x.open = x.open || quoted
		x.b.fixed(text, offset)
		return
	}
	if strings.ContainsAny(text, "*?[") {
		x.b.f.glob = true
	}
	space, other := x.e.separators()
	if text != "" && !strings.ContainsAny(text, space+other) {
		x.open = true
		x.b.fixed(text, offset)
		return
	}
	start := 0
	for i := 0; i < len(text); i++ {
		isSpace := strings.IndexByte(space, text[i]) >= 0
		if !isSpace && strings.IndexByte(other, text[i]) < 0 {
			continue
		}
		if start < i || !isSpace {
			x.open = true
			x.b.fixed(text[start:i], offset)
		}
		glob := x.b.f.glob
		x.flush()
		x.b.f.glob = glob
		x.b.f.offset = offset
		start = i + 1
	}
	if start < len(text) {
		x.open = true
		x.b.fixed(text[start:], offset)
	}
}

// separators returns the characters of IFS: white space, and others.
func (e *eval) separators() (space, other string) {
	v, set := e.c.scope.lookup("IFS")
	if !set || len(v.alts) != 1 || v.alts[0].dyn || v.alts[0].unset {
		return " \t\n", ""
	}
	for _, r := range v.alts[0].text {
		if strings.ContainsRune(" \t\n", r) {
			space += string(r)
		} else {
			other += string(r)
		}
	}
	return space, other
}

// assignmentName returns the length of NAME= at the beginning of text, or 0.
func assignmentName(text string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9':
		case c == '=' && i > 0:
			return i + 1
		default:
			return 0
		}
	}
	return 0
}
