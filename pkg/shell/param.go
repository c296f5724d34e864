package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (x *expander) param(pe *syntax.ParamExp, quoted bool) {
	x.b.f.alien = x.b.f.alien || x.e.c.alienParam(pe)
	if x.b.f.secret == "" {
		x.b.f.secret = x.e.c.secretParam(pe)
	}
	if pe.Param != nil && isList(pe) && plainParam(pe) {
		x.list(pe, quoted)
		return
	}
	v, ok := x.e.paramValue(pe)
	if ok && v.word != nil && (len(v.word.Parts) > 0 || !v.dyn) {
		x.instead(v, quoted)
		return
	}
	if !ok || v.dyn && v.text == "" {
		x.b.f.fed = x.b.f.fed || v.fed && len(x.b.buf) == 0
		x.open = x.open || quoted
		x.unknown(pe)
		x.b.f.many = !quoted && !x.whole && !x.numeric(pe)
		return
	}
	at := x.e.c.src.at(int(pe.Pos().Offset()))
	switch {
	case v.dyn && v.text == "~":
		x.open = true
		x.home(at)
	case v.dyn:
		x.open = true
		x.b.f.glob, x.b.f.whole = x.b.f.glob || v.glob, x.b.f.whole || v.whole
		x.b.f.many = !quoted && !x.whole
		x.b.fixed(v.text, at)
		x.b.unsure()
	default:
		x.open = x.open || quoted
		x.value(v.text, at, quoted)
	}
}

// numeric reports whether the shell keeps a parameter as a number, which is always one word.
func (x *expander) numeric(pe *syntax.ParamExp) bool {
	if pe.Length {
		return true
	}
	if pe.Param == nil || !plainParam(pe) || pe.Index != nil {
		return false
	}
	switch pe.Param.Value {
	case "#", "?", "$", "!":
		return true
	case "UID", "EUID", "PPID", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "BASHPID", "SHLVL", "EPOCHSECONDS":
		_, set := x.e.c.scope.lookup(pe.Param.Value)
		return !set
	}
	return false
}

// instead appends the word of ${v:-word}, which keeps its own quotes.
func (x *expander) instead(v alt, quoted bool) {
	x.open = x.open || quoted
	if quoted {
		x.quotedWord(v.word.Parts)
	} else {
		x.parts(v.word.Parts)
	}
	if v.dyn {
		x.open = true
		x.b.unsure()
		x.b.f.many = !quoted && !x.whole
	}
}

// quotedWord expands the word of "${v:-word}". Single quotes in it are ordinary characters, and
// their content is expanded (POSIX 2.6.2, "the enclosing double-quotes"); so is what $'…' decodes
// to in bash.
func (x *expander) quotedWord(parts []syntax.WordPart) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
			x.literalQuotes(part)
		case *syntax.DblQuoted:
			x.quotedParts(part.Parts, "\"\\$`")
		default:
			x.quotedParts([]syntax.WordPart{part}, "\"\\$`}")
		}
	}
}

func (x *expander) literalQuotes(q *syntax.SglQuoted) {
	at := x.e.c.src.at(int(q.Left.Offset()))
	x.open = true
	if q.Dollar {
		x.single(q)
	} else {
		x.b.text("'"+q.Value+"'", at)
	}
	if strings.ContainsAny(q.Value, "$`\\\"") {
		x.b.unsure()
	}
}

// isList reports whether the expansion may become any number of words even inside double quotes.
func isList(pe *syntax.ParamExp) bool {
	if pe.Param.Value == "@" || pe.Param.Value == "*" {
		return true
	}
	w, ok := pe.Index.(*syntax.Word)
	if !ok {
		return false
	}
	lit := w.Lit()
	return lit == "@" || lit == "*"
}

// plainParam reports whether the expansion is the unchanged value: nothing is removed or replaced.
func plainParam(pe *syntax.ParamExp) bool {
	return !pe.Excl && !pe.Length && !pe.Width && !pe.IsSet && pe.Flags == nil && pe.Slice == nil && pe.Repl == nil &&
		pe.Exp == nil && pe.Names == 0 && len(pe.Modifiers) == 0 && pe.NestedParam == nil
}

// list expands "$@", "${a[*]}" and the like.
func (x *expander) list(pe *syntax.ParamExp, quoted bool) {
	items, ok := x.e.items(pe)
	if !ok {
		x.b.f.fed = x.b.f.fed || syntax.ValidName(pe.Param.Value) && x.e.variable(pe.Param.Value).fed
		x.unknown(pe)
		x.b.f.many = !x.whole
		return
	}
	at := x.e.c.src.at(int(pe.Pos().Offset()))
	star := pe.Param.Value == "*"
	if w, ok := pe.Index.(*syntax.Word); ok {
		star = w.Lit() == "*"
	}
	x.open = x.open || quoted && star
	for i, item := range items {
		if i > 0 {
			x.between(star && quoted || x.whole, at)
		}
		x.item(item, at, quoted)
	}
}

// between separates two elements: it begins a new word, or adds a space if the list makes one word.
func (x *expander) between(joined bool, at int) {
	if joined {
		x.b.fixed(" ", at)
		return
	}
	x.flush()
	x.b.f.offset = at
}

func (x *expander) item(item field, at int, quoted bool) {
	if item.dyn {
		x.open = true
		x.b.f.glob, x.b.f.whole = x.b.f.glob || item.glob, x.b.f.whole || item.whole
		x.b.f.many = x.b.f.many || item.many
		x.b.fixed(item.text, at)
		x.b.unsure()
		return
	}
	x.value(item.text, at, quoted)
}
