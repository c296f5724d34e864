package record

import "time"

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
