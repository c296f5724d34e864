package record

import (
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Document is foreign JSON, such as an agent's event, that has passed the same checks as a line:
// valid, no duplicate names, limited depth. gjson alone accepts malformed text and returns the
// first of two equal names; the checks exclude both.
type Document struct{ root gjson.Result }

// Value is one value of a [Document].
type Value = gjson.Result

// ParseDocument checks the text. The error is a [*BadLine].
func ParseDocument(text []byte) (Document, error) {
	if !utf8.Valid(text) {
		return Document{}, bad(CodeInvalidUTF8, "invalid UTF-8").from(text)
	}
	s := &scanner{b: text}
	_, err := s.skip()
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return Document{}, err.from(text)
	}
	return Document{gjson.ParseBytes(text)}, nil
}

// Get returns the value at a gjson path. Names with '.', '*', '?', '#', '|', '@' need gjson's
// escapes.
func (d Document) Get(path string) Value { return d.root.Get(path) }

// IsObject reports whether the document is an object.
func (d Document) IsObject() bool { return d.root.IsObject() }
