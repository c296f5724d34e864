package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text as a single line. It shows a newline as ⏎ and a tab as a
// space.
func Line(text string) string { return convert(text, false) }

// Text returns text of several lines: newlines and tabs stay.
func Text(text string) string { return convert(text, true) }

func convert(text string, lines bool) string {
	start := plain(text, lines)
	if start == len(text) {
		return text
	}
	out := &writer{lines: lines}
	out.Grow(len(text) + 16)
	out.WriteString(text[:start])
	for i := start; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 {
			out.escape(`\x%02x`, rune(text[i]))
		} else {
			out.rune(r)
		}
		i += size
	}
	return out.String()
}

// Clip returns text, or at most max bytes of it that end at a whole character,
// and an ellipsis.
func Clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	return strings.ToValidUTF8(text[:max], "") + "…"
}

// plain returns the length of the prefix of text that needs no conversion:
// graphic ASCII.
func plain(text string, lines bool) int {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c >= 0x7f) && !(lines && (c == '\n' || c == '\t')) {
			return max(i-1, 0) // a mark at i would combine with the rune before it
		}
	}
	return len(text)
}

// maxMarks is the maximum number of marks on a base. Decomposed Vietnamese has
// two, vocalised Hebrew with its accents three or four.
const maxMarks = 4

// writer writes runes unchanged or as escapes.
type writer struct {
	strings.Builder
	lines bool
	base  bool // the previous rune can carry a mark
	marks int  // number of marks on it
}

func (w *writer) rune(r rune) {
	switch {
	case r == '\n' && !w.lines:
		r = '⏎'
	case r == '\t' && !w.lines:
		r = ' '
	case (r == '\n' || r == '\t') && w.lines:
	case !visible(r), mark(r) && !w.mark():
		w.escape(format(r), r)
		return
	}
	w.WriteRune(r)
	if !mark(r) {
		w.base, w.marks = unicode.In(r, unicode.L, unicode.N, unicode.Mc, unicode.So), 0
	}
}

// mark reports whether a rune is drawn on the previous one.
func mark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) }

// mark reports whether the base can take one more mark, and counts it.
func (w *writer) mark() bool {
	w.marks++
	return w.base && w.marks <= maxMarks
}

func (w *writer) escape(format string, r rune) {
	fmt.Fprintf(&w.Builder, format, r)
	w.base = false
}

func format(r rune) string {
	switch {
	case r < 0x80:
		return `\x%02x`
	case r <= 0xffff:
		return `\u%04x`
	}
	return `\U%08x`
}

// visible reports whether a rune has a visible glyph, or is a space.
func visible(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank)
}

// blank lists the graphic characters whose glyph is empty.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // braille pattern blank
		{Lo: 0x2d7f, Hi: 0x2d7f, Stride: 1}, // Tifinagh consonant joiner
	},
	R32: []unicode.Range32{
		{Lo: 0x10a3f, Hi: 0x10a3f, Stride: 1}, // Kharoshthi virama
		{Lo: 0x1107f, Hi: 0x1107f, Stride: 1}, // Brahmi number joiner
		{Lo: 0x13440, Hi: 0x13442, Stride: 1}, // Egyptian hieroglyph mirror, full blank, half blank
		{Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}, // Khitan small script filler
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}, // musical symbol null notehead
	},
}
