package record

import (
	"time"
)

// Ready is one member of a line whose JSON is already encoded.
type Ready struct {
	Name string // plain letters
	JSON []byte
}

// NewReadyLine is [NewLine] for members that the caller has encoded, including action and actor. It
// exists because the first use of a type in encoding/json takes longer than everything else in a
// small program. The caller must encode the members exactly as their types do.
func NewReadyLine(now time.Time, members ...Ready) *Line {
	l := &Line{kind: LineAction, id: NewID(now)}
	first := []Ready{
		{"schema", AppendString(nil, Schema)}, {"id", AppendString(nil, l.id)}, {"time", AppendString(nil, now.UTC().Format(time.RFC3339Nano))},
	}
	for _, m := range append(first, members...) {
		l.members = append(l.members, member{name: m.Name, key: AppendString(nil, m.Name), value: m.JSON})
	}
	l.values = make([]any, len(l.members))
	return l
}

// AppendString appends a string in the encoding of lines.
func AppendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if b := s[i]; b < ' ' || b > '~' || b == '"' || b == '\\' {
			text, err := encode(s)
			if err != nil {
				panic(err) // of a string
			}
			return append(dst, text...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}

// AppendStrings appends a list of strings in the encoding of lines; a nil list is an empty array.
func AppendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}
