package record

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the canonical form of a JSON text by RFC 8785 (JCS): no space, names sorted by
// UTF-16 code units, shortest escapes, numbers as ECMAScript writes them. JCS is defined for
// numbers that fit a double. Beyond that range, an integer keeps all its digits, so that two
// different integers never have the same form, and any other number is an error.
func Canonical(text []byte) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, bad(CodeInvalidUTF8, "invalid UTF-8")
	}
	s := &scanner{b: text}
	value, err := s.skip()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	out, err := appendCanonical(make([]byte, 0, len(text)), value)
	return out, orNil(err)
}

// appendCanonical appends the canonical form of one checked value.
func appendCanonical(dst, text []byte) ([]byte, *BadLine) {
	c := canonicalizer{scanner: scanner{b: text, again: true}, out: dst}
	err := c.value()
	return c.out, err
}

// canonicalizer reads text that a scanner has checked, in one pass, and appends its canonical form
// to out.
type canonicalizer struct {
	scanner
	out       []byte
	spans     []span // of the open objects, outermost first
	unordered []byte // of the object that is being sorted
}

func (c *canonicalizer) value() *BadLine {
	switch first := c.peek(); {
	case first == '{':
		return c.members()
	case first == '[':
		return c.elements()
	case first == '"':
		raw, escaped, err := c.quoted()
		if escaped && err == nil {
			raw = unescape(raw)
		}
		c.out = appendText(c.out, raw)
		return err
	}
	text, err := c.skip()
	if err == nil && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') {
		c.out, err = appendNumber(c.out, text)
		return err
	}
	c.out = append(c.out, text...)
	return err
}

// span is one member in out: its name and its range.
type span struct {
	name       []byte
	start, end int
}

// members appends each member in input order, then sorts them.
func (c *canonicalizer) members() *BadLine {
	c.out = append(c.out, '{')
	from, open := len(c.out), len(c.spans)
	err := c.object(func(name, _ []byte) *BadLine {
		m := span{name: name, start: len(c.out)}
		c.out = append(appendText(c.out, name), ':')
		err := c.value()
		m.end = len(c.out)
		c.spans = append(c.spans, m)
		return err
	})
	if err == nil {
		c.order(c.spans[open:], from)
	}
	c.spans = c.spans[:open]
	c.out = append(c.out, '}')
	return err
}

// order rewrites the members in out from that offset on, sorted by name.
func (c *canonicalizer) order(members []span, from int) {
	c.unordered = append(c.unordered[:0], c.out[from:]...)
	slices.SortFunc(members, func(a, b span) int { return compareUTF16(a.name, b.name) })
	c.out = c.out[:from]
	for i, m := range members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, c.unordered[m.start-from:m.end-from]...)
	}
}

func (c *canonicalizer) elements() *BadLine {
	c.out = append(c.out, '[')
	before := len(c.out)
	err := c.array(func() *BadLine {
		if len(c.out) > before {
			c.out = append(c.out, ',')
		}
		return c.value()
	})
	c.out = append(c.out, ']')
	return err
}

func appendText[T string | []byte](dst []byte, value T) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(value); i++ {
		from := i
		i = plain(value, i)
		if dst = append(dst, value[from:i]...); i == len(value) {
			break
		}
		switch c := value[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		default:
			if k := bytes.IndexByte([]byte("\b\f\n\r\t"), c); k >= 0 {
				dst = append(dst, '\\', "bfnrt"[k])
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, '"')
}

// maxExact is 2^53. Up to it every integer is exactly representable as a double.
const maxExact = 1 << 53

func appendNumber(dst, text []byte) ([]byte, *BadLine) {
	if !bytes.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(string(text), 10, 64); err != nil || n > maxExact || n < -maxExact {
			return append(dst, text...), nil
		}
	}
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || math.IsInf(n, 0) {
		return dst, bad(CodeWrongValue, "the number %.32s is out of range", text)
	}
	if n == 0 {
		return append(dst, '0'), nil // RFC 8785 writes -0 as 0
	}
	form, jsonErr := json.Marshal(n) // encoding/json writes numbers as ES6 does
	if jsonErr != nil {
		return dst, bad(CodeWrongValue, "the number %.32s: %v", text, jsonErr)
	}
	return append(dst, form...), nil
}

// compareUTF16 compares names as RFC 8785 section 3.2.3 requires.
func compareUTF16(a, b []byte) int {
	if isASCII(a) && isASCII(b) {
		return bytes.Compare(a, b)
	}
	return slices.Compare(utf16.Encode([]rune(string(a))), utf16.Encode([]rune(string(b))))
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
