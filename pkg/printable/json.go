package printable

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes JSON for a terminal. It writes what [Text] would escape as JSON
// escapes (RFC 8259, section 7), which changes no value. Such runes occur only
// in strings.
type JSON struct {
	out  io.Writer
	rest []byte // an incomplete rune
}

// NewJSON returns a JSON that writes to out.
func NewJSON(out io.Writer) *JSON { return &JSON{out: out} }

// Write implements [io.Writer].
func (w *JSON) Write(text []byte) (int, error) {
	in := append(w.rest, text...)
	out := make([]byte, 0, len(in)+16)
	for len(in) > 0 && utf8.FullRune(in) {
		r, size := utf8.DecodeRune(in)
		out = appendJSON(out, r)
		in = in[size:]
	}
	w.rest = append([]byte(nil), in...)
	if _, err := w.out.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// appendJSON also escapes marks, because it does not know what precedes them in
// a piece of JSON, nor how many marks do.
func appendJSON(out []byte, r rune) []byte {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return append(out, byte(r))
	case visible(r) && !mark(r):
		return utf8.AppendRune(out, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
