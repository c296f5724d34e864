package record

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth limits the nesting of arrays and objects in a line.
const MaxDepth = 128

// scanner reads one JSON text. It accepts exactly RFC 8259 without duplicate names and lone
// surrogates (RFC 7493). The caller must have checked that b is UTF-8.
type scanner struct {
	b     []byte
	i     int
	depth int
	again bool // b was checked before: names are known to be distinct
}

// visitor handles one member of an object. It gets the decoded name, which is valid during the
// call, and the name as written, with quotes. It must read the value at the cursor.
type visitor func(name, key []byte) *BadLine

func (s *scanner) fault(what string) *BadLine {
	if s.i >= len(s.b) {
		return bad(CodeTruncated, "at byte %d: the text ends where %s is expected", s.i+1, what)
	}
	return bad(CodeInvalidJSON, "at byte %d: found %q where %s is expected", s.i+1, rune(s.b[s.i]), what)
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// peek skips space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// end checks that nothing but space follows.
func (s *scanner) end() *BadLine {
	if s.peek(); s.i < len(s.b) {
		return bad(CodeInvalidJSON, "at byte %d: data after the end of the value", s.i+1)
	}
	return nil
}

// skip skips one value of any kind and returns its text.
func (s *scanner) skip() ([]byte, *BadLine) {
	first := s.peek()
	start := s.i
	var err *BadLine
	switch {
	case first == '{':
		err = s.object(func(_, _ []byte) *BadLine { return s.pass() })
	case first == '[':
		err = s.array(s.pass)
	case first == '"':
		_, _, err = s.quoted()
	case first == '-' || first >= '0' && first <= '9':
		err = s.number()
	default:
		err = s.literal()
	}
	return s.b[start:s.i], err
}

func (s *scanner) pass() *BadLine {
	_, err := s.skip()
	return err
}

func (s *scanner) literal() *BadLine {
	for _, word := range []string{"true", "false", "null"} {
		if len(s.b)-s.i >= len(word) && string(s.b[s.i:s.i+len(word)]) == word {
			s.i += len(word)
			return nil
		}
	}
	return s.fault("a value")
}

func (s *scanner) enter() *BadLine {
	if s.depth++; s.depth > MaxDepth {
		return bad(CodeTooDeep, "at byte %d: nested deeper than %d", s.i+1, MaxDepth)
	}
	s.i++
	return nil
}

// object calls visit for the members of the object at the cursor, in order. It refuses duplicate
// names.
func (s *scanner) object(visit visitor) *BadLine {
	if s.again {
		return s.members(visit)
	}
	var seen names
	return s.members(func(name, key []byte) *BadLine {
		if !seen.add(name) {
			return duplicate(name)
		}
		return visit(name, key)
	})
}

func duplicate(name []byte) *BadLine {
	return bad(CodeDuplicateKey, "key %q occurs twice in one object", name)
}

// members is object for a visitor that knows duplicate names itself.
func (s *scanner) members(visit visitor) *BadLine {
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := s.more(first)
		if err != nil || !more {
			return err
		}
		name, key, err := s.name()
		if err != nil {
			return err
		}
		if err := visit(name, key); err != nil {
			return err
		}
	}
}

// more reads what separates two members, or the end of the object.
func (s *scanner) more(first bool) (bool, *BadLine) {
	switch c := s.peek(); {
	case c == '}':
		s.i++
		s.depth--
		return false, nil
	case first:
	case c != ',':
		return false, s.fault("',' or '}'")
	default:
		s.i++
		s.space()
	}
	return true, nil
}

// name reads a member's name and the colon, and leaves the cursor at the value.
func (s *scanner) name() (name, key []byte, err *BadLine) {
	if s.peek() != '"' {
		return nil, nil, s.fault("a key")
	}
	start := s.i
	name, escaped, err := s.quoted()
	if err != nil {
		return nil, nil, err
	}
	key = s.b[start:s.i]
	if escaped {
		name = unescape(name)
	}
	if s.peek() != ':' {
		return nil, nil, s.fault("':'")
	}
	s.i++
	s.space()
	return name, key, nil
}

// array calls visit for the elements of the array at the cursor, in order. visit must read the
// element at the cursor.
func (s *scanner) array(visit func() *BadLine) *BadLine {
	if err := s.enter(); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.i++
		s.depth--
		return nil
	}
	for {
		s.space()
		if err := visit(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.i++
		case ']':
			s.i++
			s.depth--
			return nil
		default:
			return s.fault("',' or ']'")
		}
	}
}

// ends marks the bytes that end the plain part of a string.
var ends = [256]bool{
	true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, // control characters
	true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true,
	'"': true, '\\': true,
}

// plain returns the position of the first byte from i on that ends the plain part of a string.
func plain[T string | []byte](b T, i int) int {
	for i < len(b) && !ends[b[i]] {
		i++
	}
	return i
}

// quoted skips the string at the cursor. It returns the text between its quotes, and whether that
// contains escapes.
func (s *scanner) quoted() (raw []byte, escaped bool, err *BadLine) {
	start := s.i + 1
	for s.i = plain(s.b, start); s.i < len(s.b); s.i = plain(s.b, s.i) {
		switch s.b[s.i] {
		case '"':
			s.i++
			return s.b[start : s.i-1], escaped, nil
		case '\\':
			escaped = true
			if _, err := s.escape(); err != nil {
				return nil, true, err
			}
		default:
			return nil, escaped, s.fault("an escaped control character")
		}
	}
	return nil, escaped, s.fault("'\"'")
}

// text reads the string at the cursor and returns it decoded.
func (s *scanner) text() (string, *BadLine) {
	raw, escaped, err := s.quoted()
	if err != nil {
		return "", err
	}
	if escaped {
		raw = unescape(raw)
	}
	return string(raw), nil
}

// unescape decodes a string that quoted has checked.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for s := (&scanner{b: raw}); s.i < len(raw); {
		if raw[s.i] != '\\' {
			out = append(out, raw[s.i])
			s.i++
			continue
		}
		r, _ := s.escape()
		out = utf8.AppendRune(out, r)
	}
	return out
}

// escape reads one escape sequence, a surrogate pair as one.
func (s *scanner) escape() (rune, *BadLine) {
	if s.i++; s.i >= len(s.b) {
		return 0, s.fault("an escape")
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for k := range len(from) {
		if s.b[s.i] == from[k] {
			s.i++
			return rune(to[k]), nil
		}
	}
	if s.b[s.i] != 'u' {
		return 0, s.fault("an escape")
	}
	high, err := s.hex4()
	if err != nil || !utf16.IsSurrogate(high) {
		return high, err
	}
	at := s.i
	if s.i+1 < len(s.b) && s.b[s.i] == '\\' && s.b[s.i+1] == 'u' {
		s.i++
		low, err := s.hex4()
		if err != nil {
			return 0, err
		}
		if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
			return r, nil
		}
	}
	return 0, bad(CodeInvalidUTF8, "at byte %d: lone surrogate in a string", at-5)
}

// hex4 reads uXXXX.
func (s *scanner) hex4() (rune, *BadLine) {
	s.i++
	if s.i+4 > len(s.b) {
		s.i = len(s.b)
		return 0, s.fault("four hexadecimal digits")
	}
	n, err := strconv.ParseUint(string(s.b[s.i:s.i+4]), 16, 16)
	if err != nil {
		return 0, s.fault("four hexadecimal digits")
	}
	s.i += 4
	return rune(n), nil
}

func (s *scanner) number() *BadLine {
	if s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.i < len(s.b) && (s.b[s.i] == 'e' || s.b[s.i] == 'E') {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() *BadLine {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	if s.i == start {
		return s.fault("a digit")
	}
	return nil
}

// names is the set of names of one object: a list as long as it is small, then a map.
type names struct {
	few  [32][]byte
	n    int
	many map[string]struct{}
}

// add adds a name and reports whether it is new.
func (n *names) add(name []byte) bool {
	if n.many != nil {
		_, dup := n.many[string(name)]
		n.many[string(name)] = struct{}{}
		return !dup
	}
	for _, have := range n.few[:n.n] {
		if bytes.Equal(have, name) {
			return false
		}
	}
	if n.n < len(n.few) {
		n.few[n.n] = name
		n.n++
		return true
	}
	n.many = make(map[string]struct{}, 2*n.n)
	for _, have := range n.few {
		n.many[string(have)] = struct{}{}
	}
	n.many[string(name)] = struct{}{}
	return true
}
