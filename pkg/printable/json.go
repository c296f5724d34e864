package printable

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON writes JSON for a terminal: what [Text] would escape stands as JSON
// escapes it (RFC 8259, section 7), which changes no value. Such runes occur in
// strings alone.
type JSON struct {
	out  io.Writer
	rest []byte // a rune that is not complete yet
}

// NewJSON writes to out.
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

// appendJSON escapes marks, too, which a base may not precede: their number in
// a piece of JSON is not known.
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
