package record

import (
	"time"
)

// Ready is one member of a line, of JSON that is ready.
type Ready struct {
	Name string // plain letters
	JSON []byte
}

// NewReadyLine is [NewLine] for members whose JSON the caller has written, action and actor among them: encoding/json takes longer for its first
// value of a type than a small program for all else. The caller sees to it that the JSON is what the types encode to.
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

// AppendString appends a string as lines have it.
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

// AppendStrings appends a list of strings as lines have it: an array also when it is nil.
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
