package shell

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces returns the result of brace expansion: the parts of each word. It follows bash's braces.c,
// also for braces that do not match: {p},q}r is p}r and qr. A word that would become more than
// maxFields words stops the analysis. The exception is a long sequence of numbers, such as
// {0..16383}, for which one word stands that is not static.
func (e *eval) braces(w *syntax.Word) [][]syntax.WordPart {
	if e.c.posix || !mayBrace(w) || e.holedWord(w) {
		return [][]syntax.WordPart{w.Parts}
	}
	b := bracer{left: maxFields}
	units := bracedUnits(w.Parts)
	words := b.expand(units)
	switch {
	case b.left < 0 || !e.c.spend(b.work):
		e.c.halt()
		return [][]syntax.WordPart{w.Parts}
	case !b.expanded:
		return [][]syntax.WordPart{w.Parts}
	}
	e.c.risk(riskExpansion)
	out := make([][]syntax.WordPart, len(words))
	for i, word := range words {
		out[i] = unitParts(word)
	}
	return out
}

// mayBrace reports whether a word contains an unquoted brace.
func mayBrace(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// holedWord reports whether a word contains a marker for run-time input: the {} of find is not an
// expansion.
func (e *eval) holedWord(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && e.holed(lit.Value) {
			return true
		}
	}
	return false
}

// unit is one unquoted character of a word, or a part that is taken as a whole: a quotation, an
// expansion, an escape.
type unit struct {
	ch   byte // 0 for a whole part
	part syntax.WordPart
	at   int // offset of the character in the literal
	text string
}

func (u unit) pos() syntax.Pos { return advance(u.part.Pos(), u.at) }

func bracedUnits(parts []syntax.WordPart) []unit {
	var units []unit
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			units = append(units, unit{part: part})
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			u := unit{ch: lit.Value[i], part: lit, at: i, text: lit.Value[i : i+1]}
			if u.ch == '\\' && i+1 < len(lit.Value) {
				i++
				u.ch, u.text = 0, lit.Value[i-1:i+1]
			}
			units = append(units, u)
		}
	}
	return units
}

// unitParts converts units back into word parts and joins the characters of one literal.
func unitParts(units []unit) []syntax.WordPart {
	var out []syntax.WordPart
	var last *syntax.Lit
	var from *syntax.Lit
	next := 0
	for _, u := range units {
		lit, ok := u.part.(*syntax.Lit)
		switch {
		case !ok:
			out, last = append(out, u.part), nil
			continue
		case last != nil && from == lit && u.at == next:
			last.Value += u.text
		default:
			last, from = &syntax.Lit{ValuePos: advance(lit.ValuePos, u.at), ValueEnd: lit.ValueEnd, Value: u.text}, lit
			out = append(out, last)
		}
		next = u.at + len(u.text)
	}
	return out
}

func advance(p syntax.Pos, n int) syntax.Pos {
	return syntax.NewPos(p.Offset()+uint(n), p.Line(), p.Col()+uint(n))
}

// bracer expands braces and limits the number of words.
type bracer struct {
	left     int
	work     int
	expanded bool
	depth    int
}

// expand is brace_expand of bash.
func (b *bracer) expand(units []unit) [][]unit {
	b.work += len(units)
	if b.depth++; b.depth > 4*maxDepth {
		b.left = -1
	}
	defer func() { b.depth-- }()
	open, closing := b.pair(units)
	if b.left < 0 || open < 0 {
		return [][]unit{units}
	}
	amble := units[open+1 : closing]
	var middle [][]unit
	if b.hasComma(amble) {
		middle = b.alternatives(amble)
		b.expanded = true
	} else if middle = b.sequence(amble, units[open], units[closing]); middle != nil {
		b.expanded = true
	} else if closing+1 == len(units) {
		return [][]unit{units}
	} else {
		middle = [][]unit{units[open : closing+1]}
	}
	return b.product(b.product([][]unit{units[:open]}, middle), b.expand(units[closing+1:]))
}

// pair finds the first brace that opens an expansion, and the brace that closes it.
func (b *bracer) pair(units []unit) (open, closing int) {
	for i := 0; ; i++ {
		if i = b.gobble(units, i, '{'); i < 0 {
			return -1, -1
		}
		if closing = b.gobble(units, i+1, '}'); closing >= 0 {
			return i, closing
		}
		if b.left < 0 {
			return -1, -1
		}
	}
}

// gobble is brace_gobbler of bash: it finds the next wanted character outside of inner pairs of
// braces. A closing brace counts only after a comma or dots.
func (b *bracer) gobble(units []unit, from int, want byte) int {
	level, separators := 0, want != '}'
	for i := from; i < len(units); i++ {
		b.work++
		if b.work > maxBraceWork {
			b.left = -1
			return -1
		}
		ch := units[i].ch
		switch {
		case ch == want && level == 0 && separators:
			if ch == '{' && i == 0 && (len(units) == 1 || units[1].ch == '}') {
				continue // {} and a lone {
			}
			return i
		case ch == '{':
			level++
		case ch == '}' && level > 0:
			level--
		case want == '}' && level == 0 && (ch == ',' || ch == '.' && i+2 < len(units) && units[i+1].ch == '.' && units[i+2].ch != want):
			separators = true
		}
	}
	return -1
}

// hasComma reports whether the braces contain a comma at any depth.
func (b *bracer) hasComma(units []unit) bool {
	return slices.ContainsFunc(units, func(u unit) bool { return u.ch == ',' })
}

// alternatives is expand_amble of bash.
func (b *bracer) alternatives(amble []unit) [][]unit {
	var out [][]unit
	for start := 0; ; {
		end := b.gobble(amble, start, ',')
		if b.left < 0 {
			return nil
		}
		if end < 0 {
			return append(out, b.expand(amble[start:])...)
		}
		out = append(out, b.expand(amble[start:end])...)
		start = end + 1
	}
}

// product joins every word of one list with every word of another.
func (b *bracer) product(left, right [][]unit) [][]unit {
	if b.left -= len(left)*len(right) - 1; b.left < 0 {
		return nil
	}
	out := make([][]unit, 0, len(left)*len(right))
	for _, l := range left {
		for _, r := range right {
			b.work += len(l) + len(r)
			out = append(out, append(l[:len(l):len(l)], r...))
		}
	}
	return out
}

// sequence expands {from..to[..step]} of integers or letters. It returns nil if the braces contain
// something else. A sequence that is too long is an expansion of which nothing is known.
func (b *bracer) sequence(amble []unit, brace, end unit) [][]unit {
	var text strings.Builder
	for _, u := range amble {
		if u.ch == 0 {
			return nil
		}
		text.WriteByte(u.ch)
	}
	from, rest, ok := strings.Cut(text.String(), "..")
	to, increment, stepped := strings.Cut(rest, "..")
	if !ok || from == "" || to == "" {
		return nil
	}
	step, err := strconv.ParseInt(increment, 10, 32)
	if stepped && err != nil {
		return nil
	}
	values, long := b.values(from, to, max(step, -step, 1))
	switch {
	case long:
		return [][]unit{{{part: &syntax.ParamExp{Dollar: brace.pos(), Rbrace: end.pos()}}}}
	case values == nil:
		return nil
	}
	out := make([][]unit, len(values))
	for i, v := range values {
		out[i] = []unit{{part: &syntax.Lit{ValuePos: brace.part.Pos(), ValueEnd: brace.part.Pos(), Value: v}, text: v}}
	}
	return out
}

// values returns the values of a sequence; long reports that there are too many.
func (b *bracer) values(from, to string, step int64) (values []string, long bool) {
	x, errX := strconv.ParseInt(from, 10, 32)
	y, errY := strconv.ParseInt(to, 10, 32)
	letters := len(from) == 1 && len(to) == 1 && isLetter(from[0]) && isLetter(to[0])
	if letters {
		x, y = int64(from[0]), int64(to[0])
	} else if errX != nil || errY != nil {
		return nil, false
	}
	if int64(b.left) <= max(y-x, x-y)/step {
		return nil, true
	}
	width := 0
	if !letters && (padded(from) || padded(to)) {
		width = max(len(from), len(to))
	}
	return series(x, y, step, letters, width), false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// padded reports whether a number has a leading zero. All numbers then have its width.
func padded(number string) bool {
	digits := strings.TrimLeft(number, "+-")
	return len(digits) > 1 && digits[0] == '0'
}

func series(x, y, step int64, letters bool, width int) []string {
	if x > y {
		step = -step
	}
	var out []string
	for v := x; step > 0 && v <= y || step < 0 && v >= y; v += step {
		switch {
		case letters && v == '\\': // bash takes it for a quote with nothing after it
			out = append(out, "")
		case letters:
			out = append(out, string(rune(v)))
		default:
			out = append(out, pad(v, width))
		}
	}
	return out
}

func pad(v int64, width int) string {
	text := strconv.FormatInt(max(v, -v), 10)
	sign := ""
	if v < 0 {
		sign = "-"
	}
	if n := width - len(text) - len(sign); n > 0 {
		text = strings.Repeat("0", n) + text
	}
	return sign + text
}
