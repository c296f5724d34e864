package hook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"ethos/pkg/record"
)

// MaxEvent is the size limit of one event, in bytes. It is larger than that of a record line,
// because an event contains the content of the file to write, and a record only its digest.
const MaxEvent = 32 << 20

// Documents splits a stream into JSON documents by their brackets: NDJSON, one pretty-printed
// document, or several.
type Documents struct {
	in   *bufio.Reader
	max  int // size limit of one document, in bytes
	line int // of the next byte
	at   int // line on which the document returned last begins
}

// NewDocuments returns a reader of the documents of in.
func NewDocuments(in io.Reader) *Documents {
	return &Documents{in: bufio.NewReaderSize(in, 64<<10), max: MaxEvent, line: 1}
}

// LineNumber returns the 1-based line on which the document returned last begins.
func (d *Documents) LineNumber() int { return d.at }

// Waiting reports whether nothing is buffered, so that the next read may block.
func (d *Documents) Waiting() bool { return d.in.Buffered() == 0 }

// Next returns the next document. The error is io.EOF at the end, a [*record.BadLine] for text that
// is not a document, or the error of reading the input. After a BadLine, reading continues with the
// text that follows it.
func (d *Documents) Next() ([]byte, error) {
	c, err := d.skipBlank()
	if err != nil {
		return nil, err
	}
	d.at = d.line
	if c != '{' && c != '[' {
		return nil, d.garbage()
	}
	s := scan{max: d.max}
	for {
		c, err := d.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil, s.bad(record.CodeTruncated, "the input ends in the middle of an event")
		}
		if err != nil {
			return nil, err
		}
		if c == '\n' {
			d.line++
		}
		switch s.step(c) {
		case broken:
			return nil, s.bad(record.CodeInvalidJSON, "a text is not closed before the end of its line")
		case restart:
			return nil, errors.Join(d.in.UnreadByte(), s.bad(record.CodeInvalidJSON, "another event begins before this one ends"))
		case complete:
			if s.dropped > 0 {
				return nil, s.bad(record.CodeTooLong, fmt.Sprintf("the event is longer than %d bytes", d.max))
			}
			return s.text, nil
		}
	}
}

// skipBlank skips white space and leaves the next byte unread.
func (d *Documents) skipBlank() (byte, error) {
	for {
		c, err := d.in.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			d.line++
		case c != ' ' && c != '\t' && c != '\r':
			return c, d.in.UnreadByte()
		}
	}
}

// garbage skips a line that does not begin a document.
func (d *Documents) garbage() error {
	s := scan{max: d.max}
	for {
		c, err := d.in.ReadByte()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil || c == '\n' {
			d.line++
			return record.NewBadLine(record.CodeInvalidJSON, "want a JSON object", bytes.TrimRight(s.text, " \t\r"))
		}
		s.keep(c)
	}
}

// scan follows the structure of one document, byte by byte.
type scan struct {
	text    []byte
	max     int
	dropped int  // bytes beyond the limit
	depth   int  // number of open brackets
	inText  bool // inside a string
	escaped bool // after a backslash
	last    byte // the last structural byte
	fresh   bool // only blanks so far on this line
}

// step is the effect of one byte.
type step int

const (
	more     step = iota
	complete      // the document is complete
	broken        // a string continues past the end of its line
	restart       // the byte begins another document
)

func (s *scan) step(c byte) step {
	if s.inText {
		s.keep(c)
		return s.quoted(c)
	}
	if c == '{' && s.fresh && s.depth > 0 && s.last != '[' && s.last != ',' && s.last != ':' {
		return restart
	}
	s.keep(c)
	switch c {
	case ' ', '\t', '\r':
		return more
	case '\n':
		s.fresh = true
		return more
	case '{', '[':
		s.depth++
	case '}', ']':
		s.depth--
	case '"':
		s.inText = true
	}
	s.last, s.fresh = c, false
	if s.depth == 0 {
		return complete
	}
	return more
}

func (s *scan) quoted(c byte) step {
	switch {
	case c == '\n':
		return broken
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inText = false
	}
	return more
}

func (s *scan) keep(c byte) {
	if len(s.text) < s.max {
		s.text = append(s.text, c)
	} else {
		s.dropped++
	}
}

func (s *scan) bad(code, message string) *record.BadLine {
	return record.NewBadLine(code, message, bytes.TrimRight(s.text, " \t\r\n"))
}
