package shell

import (
	"strings"
	"unicode/utf8"
)

// piece is part of a $'…' quotation: text at offset at, or the meaning of an escape there.
type piece struct {
	text    string
	at      int
	escaped bool
}

// ansiC decodes the inside of $'…' (bash(1), "QUOTING"): \n, \x41, \101, A, \cA and so on. A NUL ends the value.
func ansiC(s string) []piece {
	if strings.IndexByte(s, '\\') < 0 {
		return []piece{{text: s}}
	}
	var out []piece
	start := 0
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			i++
			continue
		}
		if start < i {
			out = append(out, piece{text: s[start:i], at: start})
		}
		text, n := ansiEscape(s[i+1:])
		if text == "\x00" {
			return out
		}
		out = append(out, piece{text: text, at: i, escaped: true})
		i += 1 + n
		start = i
	}
	if start < len(s) {
		out = append(out, piece{text: s[start:], at: start})
	}
	return out
}

// ansiEscape decodes one escape, given the text after its backslash, and returns how many bytes it
// used.
func ansiEscape(s string) (text string, n int) {
	switch c := s[0]; c {
	case 'a':
		return "\a", 1
	case 'b':
		return "\b", 1
	case 'e', 'E':
		return "\x1b", 1
	case 'f':
		return "\f", 1
	case 'n':
		return "\n", 1
	case 'r':
		return "\r", 1
	case 't':
		return "\t", 1
	case 'v':
		return "\v", 1
	case '\\', '\'', '"', '?':
		return s[:1], 1
	case 'x':
		return hexEscape(s, 2)
	case 'u':
		return runeEscape(s, 4)
	case 'U':
		return runeEscape(s, 8)
	case 'c':
		if len(s) > 1 {
			return string([]byte{s[1] & 0x1f}), 2
		}
	}
	if v, digits := number(s, 8, 3); digits > 0 {
		return string([]byte{byte(v)}), digits
	}
	return "\\" + s[:1], 1
}

// hexEscape decodes \xHH or \x{HH}.
func hexEscape(s string, most int) (string, int) {
	if strings.HasPrefix(s[1:], "{") {
		v, digits := number(s[2:], 16, len(s))
		n := 2 + digits
		if n < len(s) && s[n] == '}' {
			n++
		}
		return string([]byte{byte(v)}), n
	}
	v, digits := number(s[1:], 16, most)
	if digits == 0 {
		return "\\x", 1
	}
	return string([]byte{byte(v)}), 1 + digits
}

func runeEscape(s string, most int) (string, int) {
	v, digits := number(s[1:], 16, most)
	if digits == 0 {
		return "\\" + s[:1], 1
	}
	if v > utf8.MaxRune {
		v = utf8.RuneError
	}
	return string(rune(v)), 1 + digits
}

// number reads up to most digits. Large values wrap, because only the low bits count.
func number(s string, base, most int) (v uint32, digits int) {
	for digits < len(s) && digits < most {
		d := digit(s[digits])
		if d >= base {
			break
		}
		v = v*uint32(base) + uint32(d)
		digits++
	}
	return v, digits
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 255
}

// quoteArgv quotes an argument vector for a shell, and returns the fields with their offsets in
// that text.
func quoteArgv(argv []string) (string, []field) {
	var b strings.Builder
	fields := make([]field, len(argv))
	for i, arg := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		fields[i] = quoteArg(&b, arg)
	}
	return b.String(), fields
}

// quoteArg appends one argument. A single quote inside becomes '\”.
func quoteArg(b *strings.Builder, arg string) field {
	if arg != "" && strings.IndexFunc(arg, needsQuote) < 0 {
		f := literal(arg, b.Len())
		b.WriteString(arg)
		return f
	}
	f := field{text: arg, offset: b.Len() + 1}
	b.WriteByte('\'')
	for at := 0; ; {
		f.runs = append(f.runs, run{at: at, offset: b.Len()})
		n := strings.IndexByte(arg[at:], '\'')
		if n < 0 {
			b.WriteString(arg[at:])
			break
		}
		b.WriteString(arg[at : at+n])
		b.WriteString(`'\`)
		b.WriteString(`''`)
		at += n + 1
	}
	b.WriteByte('\'')
	return f
}

func needsQuote(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("_-./:=@%+,^", r)
}
