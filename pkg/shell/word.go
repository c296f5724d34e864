package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// eval expands words under one choice of the values that variables may have.
type eval struct {
	c      *walker
	chosen []choice
	frozen bool // no new choice may be made
	head   bool // the word is the command's own: every value matters, also an unknown one
	values bool // the words are those of a loop or of an array, not a command
}

// choice is a point with several possible values, and the one that is used now.
type choice struct {
	key string
	n   int
	now int
}

// expand expands the words of one command and calls yield for each combination of the known values
// of variables, up to maxAlts. Beyond that limit the words concerned count as not static.
func (c *walker) expand(words []*syntax.Word, yield func([]field)) {
	eval{c: c}.expand(words, yield)
}

func (e eval) expand(words []*syntax.Word, yield func([]field)) {
	c := e.c
	first := e.words(words)
	if len(e.chosen) == 0 {
		yield(first)
		return
	}
	if e.combinations() > maxAlts {
		e.chosen, e.frozen = nil, true
		yield(e.words(words))
		return
	}
	e.frozen = true
	for {
		yield(first)
		if !e.next() || c.halted {
			return
		}
		first = e.words(words)
	}
}

func (e *eval) combinations() int {
	total := 1
	for _, ch := range e.chosen {
		if total *= ch.n; total > maxAlts {
			break
		}
	}
	return total
}

// next moves to the next combination; the last choice changes fastest.
func (e *eval) next() bool {
	for i := len(e.chosen) - 1; i >= 0; i-- {
		ch := &e.chosen[i]
		if ch.now++; ch.now < ch.n {
			return true
		}
		ch.now = 0
	}
	return false
}

// choose selects one of several values. It returns false if no choice can be made here.
func (e *eval) choose(key string, n int) (int, bool) {
	for _, ch := range e.chosen {
		if ch.key == key && ch.n == n {
			return ch.now, true
		}
	}
	if e.frozen {
		return 0, false
	}
	e.chosen = append(e.chosen, choice{key: key, n: n})
	return 0, true
}

// words expands the words of a simple command.
func (e *eval) words(words []*syntax.Word) []field {
	out := make([]field, 0, len(words))
	for _, w := range words {
		e.head = len(out) == 0
		out = e.word(out, w)
		if len(out) > maxFields {
			e.c.halt()
			break
		}
	}
	return out
}

// one expands a word that is not split: an assigned value, the target of a redirection, the word of case.
func (c *walker) one(w *syntax.Word) field {
	e := eval{c: c, frozen: true}
	return e.single(w, false)
}

// each calls yield for each value that an unsplit word may have.
func (c *walker) each(w *syntax.Word, yield func(field)) {
	e := eval{c: c}
	first := e.single(w, false)
	if len(e.chosen) == 0 {
		yield(first)
		return
	}
	if e.combinations() > maxAlts {
		yield(c.one(w))
		return
	}
	e.frozen = true
	for {
		yield(first)
		if !e.next() || c.halted {
			return
		}
		first = e.single(w, false)
	}
}

func (e *eval) single(w *syntax.Word, assigned bool) field {
	if w == nil {
		return field{}
	}
	x := expander{e: e, whole: true, assigned: assigned}
	x.b.f.offset = e.c.src.at(int(w.Pos().Offset()))
	x.parts(w.Parts)
	f := x.b.take()
	e.c.spend(len(f.text))
	if len(f.text) > maxValue {
		return field{text: clip(f.text, maxRaw), dyn: true, offset: f.offset}
	}
	return f
}

// word expands one word and appends the fields it becomes.
func (e *eval) word(out []field, w *syntax.Word) []field {
	if f, ok := e.plain(w); ok {
		return append(out, f)
	}
	x := expander{e: e, out: out}
	for _, parts := range e.braces(w) {
		first := len(x.out)
		x.open = false
		x.b.f.offset = e.c.src.at(int(w.Pos().Offset()))
		x.parts(parts)
		x.flush()
		if unsplit(parts) || e.c.loose && !e.head && mayBrace(w) {
			for i := first; i < len(x.out); i++ {
				x.out[i].dyn, x.out[i].many, x.out[i].tail = true, true, 0
			}
		}
	}
	return x.out
}

// unsplit reports whether a lone dollar sign follows an expansion in the word: $x$. Bash 5.2 does
// not split that, other shells do.
func unsplit(parts []syntax.WordPart) bool {
	expands := false
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			expands = true
		case *syntax.Lit:
			if expands && strings.Contains(part.Value, "$") {
				return true
			}
		}
	}
	return false
}

// plain handles the most frequent kind of word: one literal without special characters.
func (e *eval) plain(w *syntax.Word) (field, bool) {
	if len(w.Parts) != 1 {
		return field{}, false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\*?[{~"+returnMask) || e.holed(lit.Value) {
		return field{}, false
	}
	src := e.c.src
	offset := int(lit.ValuePos.Offset())
	if src.runs != nil || int(lit.ValueEnd.Offset())-offset != len(lit.Value) {
		return field{}, false
	}
	e.c.spend(len(lit.Value))
	return literal(lit.Value, offset), true
}

func (e *eval) holed(text string) bool {
	hole := e.c.src.hole
	return hole != "" && strings.Contains(text, hole)
}
