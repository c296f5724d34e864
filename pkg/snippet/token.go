package snippet

import (
	"strings"
)

// Language is a language that the package parses.
type Language uint8

// The supported languages.
const (
	None Language = iota
	Python
	JavaScript
	Ruby
	Perl
	PHP
	Lua
	Awk
	R
	Julia
	AppleScript
	Tcl // from here on not parsed by [scan]
	Makefile
	Lisp
	PowerShell
	Console // commands of an editor, a debugger or a client, one per line
	Other   // a language in which only the usual ways to start a program are found
)

// kind is the kind of a token.
type kind uint8

const (
	word  kind = iota // a name, with its sigil
	text              // a string
	shell             // `code for a shell`
	mark              // everything else, one byte each
	end               // end of a line
)

type token struct {
	kind  kind
	text  string
	value value
}

func (t token) is(s string) bool { return (t.kind == mark || t.kind == word) && t.text == s }

// scanner splits code into tokens.
type scanner struct {
	lang   Language
	rest   string
	tokens []token
}

// maxTokens limits the tokens read of one snippet.
const maxTokens = 20000

func scan(lang Language, code string) []token {
	s := &scanner{lang: lang, rest: code}
	for s.rest != "" && len(s.tokens) < maxTokens {
		s.next()
	}
	return s.tokens
}

func (s *scanner) take(k kind, n int) {
	s.tokens = append(s.tokens, token{kind: k, text: s.rest[:n]})
	s.rest = s.rest[n:]
}

func (s *scanner) next() {
	c := s.rest[0]
	switch {
	case c == '\n':
		s.take(end, 1)
	case c == ' ' || c == '\t' || c == '\r':
		s.rest = s.rest[1:]
	case s.comment():
	case s.quoted():
	case wordByte(c) || strings.IndexByte("$@%", c) >= 0 && (s.lang == Ruby || s.lang == Perl || s.lang == PHP) && len(s.rest) > 1 && wordByte(s.rest[1]):
		n := 1
		for n < len(s.rest) && wordByte(s.rest[n]) {
			n++
		}
		s.take(word, n)
	default:
		s.take(mark, 1)
	}
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (s *scanner) skip(stop string) bool {
	if at := strings.Index(s.rest, stop); at >= 0 {
		s.rest = s.rest[at+len(stop):]
	} else {
		s.rest = ""
	}
	return true
}

func (s *scanner) comment() bool {
	has := func(start string) bool { return strings.HasPrefix(s.rest, start) }
	slashes := s.lang == JavaScript || s.lang == PHP
	switch {
	case has("#") && s.lang != JavaScript && s.lang != Lua && s.lang != AppleScript, has("//") && slashes,
		has("--") && (s.lang == Lua && !has("--[[") || s.lang == AppleScript):
		at := strings.IndexByte(s.rest, '\n')
		if at < 0 {
			at = len(s.rest)
		}
		s.rest = s.rest[at:]
		return true
	case has("/*") && slashes:
		return s.skip("*/")
	case has("--[[") && s.lang == Lua:
		return s.skip("]]")
	}
	return false
}

// quoted reads a string, a pattern, or shell code.
func (s *scanner) quoted() bool {
	switch c := s.rest[0]; {
	case s.lang == Python && s.python():
	case c == '\'' && s.lang != Awk, c == '"':
		s.between(text, 1, s.rest[:1])
	case c == '`' && s.lang == JavaScript && len(s.tokens) > 0 && s.tokens[len(s.tokens)-1].is("$"): // of zx and Bun
		s.between(shell, 1, "`")
	case c == '`' && s.lang == JavaScript:
		s.between(text, 1, "`")
	case c == '`' && (s.lang == Ruby || s.lang == Perl || s.lang == PHP || s.lang == Julia):
		s.between(shell, 1, "`")
	case s.lang == Lua && strings.HasPrefix(s.rest, "[["):
		s.between(text, 2, "]]")
	case c == '/' && (s.lang == JavaScript || s.lang == Awk || s.lang == Ruby || s.lang == Perl) && s.patternHere():
		s.between(mark, 1, "/")
	case s.lang == Perl && c == '<' && s.globHere():
	case (s.lang == Ruby || s.lang == Perl) && s.generic():
	default:
		return false
	}
	return true
}

// python reads a string with its prefix.
func (s *scanner) python() bool {
	n := 0
	for n < 2 && n < len(s.rest) && strings.IndexByte("rRbBuUfF", s.rest[n]) >= 0 {
		n++
	}
	if n >= len(s.rest) || s.rest[n] != '\'' && s.rest[n] != '"' {
		return false
	}
	prefix := strings.ToLower(s.rest[:n])
	quote := s.rest[n : n+1]
	if strings.HasPrefix(s.rest[n:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	s.rest = s.rest[n:]
	s.between(text, len(quote), quote)
	t := &s.tokens[len(s.tokens)-1]
	if strings.Contains(prefix, "f") {
		t.value = interpolated(t.value, "{", "}")
	}
	return true
}

// patternHere reports whether a slash begins a pattern: it does where a value
// may begin.
func (s *scanner) patternHere() bool {
	if len(s.tokens) == 0 {
		return true
	}
	last := s.tokens[len(s.tokens)-1]
	return last.kind == end || last.kind == mark && strings.Contains("(,=:[!&|?{};~", last.text)
}

// globHere reads a file pattern of Perl: <~/*>.
func (s *scanner) globHere() bool {
	inner, _, found := strings.Cut(s.rest[1:], ">")
	if !found || !strings.ContainsAny(inner, "/*~") || strings.ContainsAny(inner, " \n;,<=()") {
		return false
	}
	s.between(text, 1, ">")
	return true
}

// generic reads q(…), qq{…}, qx/…/ and %x(…), %q(…).
func (s *scanner) generic() bool {
	for _, each := range [...]struct {
		start string
		lang  Language
		kind  kind
	}{{"qx", Perl, shell}, {"qq", Perl, text}, {"qw", Perl, text}, {"q", Perl, text}, {"%x", Ruby, shell}, {"%q", Ruby, text}, {"%Q", Ruby, text}, {"%w", Ruby, text}} {
		n := len(each.start)
		if each.lang != s.lang || !strings.HasPrefix(s.rest, each.start) || len(s.rest) <= n || strings.IndexByte("({[/<|!", s.rest[n]) < 0 {
			continue
		}
		stop := s.rest[n : n+1]
		if at := strings.Index("({[<", stop); at >= 0 {
			stop = ")}]>"[at : at+1]
		}
		s.between(each.kind, n+1, stop)
		if t := &s.tokens[len(s.tokens)-1]; each.start == "%w" || each.start == "qw" {
			t.value = value{list: true}
			for _, w := range strings.Fields(t.text) {
				t.value.items = append(t.value.items, known(w))
			}
		}
		return true
	}
	return false
}

// between reads the text up to the closing quote, without it; the opening quote
// has n bytes.
func (s *scanner) between(k kind, n int, stop string) {
	var b strings.Builder
	rest := s.rest[n:]
	for rest != "" && !strings.HasPrefix(rest, stop) {
		c := rest[0]
		rest = rest[1:]
		if c != '\\' || rest == "" || stop == "]]" {
			b.WriteByte(c)
			continue
		}
		c, rest = rest[0], rest[1:]
		switch {
		case stop == "'" && c != '\'' && c != '\\' && (s.lang == Ruby || s.lang == Perl || s.lang == PHP):
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		case c == 'x' && len(rest) >= 2 && hex(rest[0]) >= 0 && hex(rest[1]) >= 0:
			b.WriteByte(byte(hex(rest[0])<<4 | hex(rest[1])))
			rest = rest[2:]
		case c == '\n':
		default:
			b.WriteByte(c)
		}
	}
	if s.rest = ""; rest != "" {
		s.rest = rest[len(stop):]
	}
	t := token{kind: k, text: b.String(), value: known(b.String())}
	switch {
	case stop == "'":
	case s.lang == JavaScript && stop == "`":
		t.value = interpolated(t.value, "${", "}")
	case s.lang == Ruby:
		t.value = interpolated(t.value, "#{", "}")
	case s.lang == Perl, s.lang == PHP:
		t.value = sigils(t.value)
	}
	s.tokens = append(s.tokens, t)
}

func hex(c byte) int { return strings.IndexByte("0123456789abcdef", c|0x20*(c>>6&1)) }
