package shell

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// field is one word after expansion, which becomes one element of argv.
type field struct {
	text   string        // the value; the source text of an expansion stands in for a value that is not static
	dyn    bool          // part of the value is known only at run time
	glob   bool          // contains active pattern characters
	home   bool          // text begins with a ~ that means the home directory
	tail   int           // number of bytes at the end of text that are static although the word is not
	many   bool          // may become any number of words, or none
	whole  bool          // stands for everything below a directory
	fed    bool          // begins with what a variable has read from another program
	alien  bool          // comes from an input of which nothing is known
	secret string        // the variable whose secret is in it; "" for none
	runs   runs          // where text comes from; nil if it is one stretch that begins at offset
	offset int           // in the outermost script
	sub    *substitution // set if the whole word is <( ) or >( )
}

// substitution is a process or command substitution, with the place where it was found.
type substitution struct {
	stmts []*syntax.Stmt
	in    *walker
	read  bool // <( ): the command reads its output
}

func literal(text string, offset int) field { return field{text: text, offset: offset} }

// static reports whether the word is fully known, so that it may be printed in argv.
func (f field) static() bool { return !f.dyn && utf8.ValidString(f.text) }

// named reports whether the last path element of the word is static: "$GOPATH"/bin/tool is tool,
// wherever it is, and so is /b??/tool.
func (f field) named() bool {
	if f.glob && !f.dyn && !f.many && !f.home && utf8.ValidString(f.text) {
		return strings.IndexByte(f.text, '/') >= 0 && baseName(f.text) != "" && !strings.ContainsAny(baseName(f.text), "*?[")
	}
	return f.dyn && !f.glob && !f.home && utf8.ValidString(f.text) && strings.IndexByte(f.text[len(f.text)-f.tail:], '/') >= 0 &&
		baseName(f.text) != ""
}

// value returns the word for argv, or nil if it is not static.
func (f field) value() *string {
	if !f.static() {
		return nil
	}
	return &f.text
}

// at returns the offset in the outermost script of the n-th byte of the text.
func (f field) at(n int) int {
	if f.runs == nil {
		return f.offset + n
	}
	return f.runs.at(n)
}

// from returns the word without its first n bytes, such as the argument in an option's own word.
func (f field) from(n int) field {
	g := f
	g.text = f.text[n:]
	g.home = false
	g.sub = nil
	if f.runs == nil {
		g.offset += n
		return g
	}
	g.runs = f.runs.slice(n)
	g.offset = g.runs.at(0)
	return g
}

// source converts the word to shell text that is to be parsed.
func (f field) source(d dialect) *source {
	r := f.runs
	if r == nil {
		r = runs{{offset: f.offset}}
	}
	return &source{text: f.text, runs: r, dialect: d}
}

// join returns the text of words with a space between them, as eval and watch do.
func join(fields []field) field {
	if len(fields) == 1 {
		f := fields[0]
		f.glob, f.many = false, false
		return f
	}
	var b fieldBuilder
	for i, f := range fields {
		if i > 0 {
			b.fixed(" ", f.offset)
		}
		b.field(f)
	}
	return b.take()
}

// fieldBuilder builds a word and records where each byte comes from.
type fieldBuilder struct {
	buf     []byte
	runs    runs
	f       field
	dynamic int // the end of the last part that is not static
}

// unsure marks the content of the word so far as not static.
func (b *fieldBuilder) unsure() {
	b.f.dyn = true
	b.dynamic = len(b.buf)
}

// text appends bytes that are in the outermost script from offset on.
func (b *fieldBuilder) text(s string, offset int) { b.add(s, offset, false) }

// fixed appends bytes that all come from one offset.
func (b *fieldBuilder) fixed(s string, offset int) { b.add(s, offset, true) }

func (b *fieldBuilder) add(s string, offset int, fixed bool) {
	if s == "" {
		return
	}
	at := len(b.buf)
	b.buf = append(b.buf, s...)
	if n := len(b.runs); n > 0 {
		last := b.runs[n-1]
		if last.fixed == fixed && (fixed && last.offset == offset || !fixed && last.offset+at-last.at == offset) {
			return
		}
	}
	b.runs = append(b.runs, run{at: at, offset: offset, fixed: fixed})
}

// field appends another word as a whole.
func (b *fieldBuilder) field(f field) {
	if f.runs == nil {
		b.text(f.text, f.offset)
	} else {
		for i, r := range f.runs {
			end := len(f.text)
			if i+1 < len(f.runs) {
				end = f.runs[i+1].at
			}
			b.add(f.text[r.at:end], r.offset, r.fixed)
		}
	}
	b.f.dyn = b.f.dyn || f.dyn
	b.f.secret = cmp.Or(b.f.secret, f.secret)
}

func (b *fieldBuilder) take() field {
	f := b.f
	f.text = unmaskReturns(string(b.buf))
	if f.dyn && b.dynamic > 0 {
		f.tail = len(b.buf) - b.dynamic
	}
	if len(b.runs) > 0 {
		f.offset = b.runs[0].offset
	}
	if len(b.runs) > 1 || len(b.runs) == 1 && b.runs[0].fixed {
		f.runs = append(runs(nil), b.runs...)
	}
	*b = fieldBuilder{buf: b.buf[:0], runs: b.runs[:0]}
	return f
}
