package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"
)

// LineKind is the kind of a line.
type LineKind int

// The kinds of line.
const (
	LineAction LineKind = iota // has "action"
	LineOutput                 // has "output": live output of a running action
	LineError                  // has "error": replaces a line that was not valid
)

// member is one name and value of a line, as written in the text.
type member struct {
	name  string // decoded
	key   []byte // raw, with quotes
	value []byte // raw
}

// Line is one line of the pipe: its top-level members in order, each as written.
type Line struct {
	kind    LineKind
	id      string
	members []member
	values  []any  // pointer to the decoded value of each known member, else nil; nil for facts that were only checked
	brief   *Facts // of facts that were only checked
	text    []byte // the line as read, as long as no member was changed
}

// known returns a pointer to a new value of the type of a member that this schema defines, or nil.
func known(name string) any {
	switch name {
	case "schema", "id", "time":
		return new(string)
	case "action":
		return new(Action)
	case "actor":
		return new(Actor)
	case "facts":
		return new(Facts)
	case "decision":
		return new(Decision)
	case "result":
		return new(Result)
	case "output":
		return new(Output)
	case "error":
		return new(Error)
	}
	return nil
}

// NewLine returns a new action line. An empty id is replaced by a new one.
func NewLine(id string, now time.Time, action Action, actor Actor) *Line {
	if id == "" {
		id = NewID(now)
	}
	l := newLine(LineAction, id)
	l.put("time", now.UTC().Format(time.RFC3339Nano))
	l.put("action", action)
	l.put("actor", actor)
	return l
}

// Line returns the error line for b with the given stage and line number.
func (b *BadLine) Line(stage string, number int, now time.Time) *Line {
	id := b.ID
	if id == "" {
		id = NewID(now)
	}
	l := newLine(LineError, id)
	l.put("error", Error{Stage: stage, Line: number, Code: b.Code, Message: b.Message, InputSHA256: b.SHA256, InputPrefix: b.Prefix})
	return l
}

func newLine(kind LineKind, id string) *Line {
	l := &Line{kind: kind, id: id}
	l.put("schema", Schema)
	l.put("id", id)
	return l
}

// put is Set for values of this package's own types, whose encoding never fails.
func (l *Line) put(name string, v any) {
	if err := l.Set(name, v); err != nil {
		panic(err) // a type of this package that encoding/json cannot write
	}
}

// ParseLine checks one line, without its newline, and returns it. The error is a [*BadLine]. The
// facts are checked and, except for [Line.Brief], not decoded: [Line.Decode] does that.
func ParseLine(text []byte) (*Line, error) { return parseLine(text, false, nil) }

func parseLine(text []byte, facts bool, done checked) (*Line, error) {
	l := &Line{text: bytes.Clone(text)}
	if err := l.parse(facts, done); err != nil {
		err.ID = l.id
		return nil, err.from(text)
	}
	return l, nil
}

func (l *Line) parse(facts bool, done checked) *BadLine {
	if !utf8.Valid(l.text) {
		return bad(CodeInvalidUTF8, "invalid UTF-8")
	}
	if !l.read(facts, done) {
		if err := l.fault(); err != nil {
			return err
		}
	}
	l.noteID()
	return l.validate()
}

// read reads the members in one pass. The facts are only checked, unless they are to be decoded. It
// returns false for a line with any fault, which fault then finds.
func (l *Line) read(facts bool, done checked) bool {
	l.members, l.values = make([]member, 0, 8), make([]any, 0, 8)
	d := newDecoder(scanner{b: l.text})
	d.done = done
	if d.peek() != '{' {
		return false
	}
	err := d.object(func(name, key []byte) (err *BadLine) {
		m, start := member{name: string(name), key: key}, d.i
		value := known(m.name)
		switch to := reflect.ValueOf(value); {
		case value == nil:
			err = d.pass()
		case m.name == "facts" && !facts:
			l.brief, value = value.(*Facts), nil
			d.brief = true
			err = d.value(shapeOf(to.Type().Elem()), to.Elem())
			d.brief = false
		default:
			err = d.value(shapeOf(to.Type().Elem()), to.Elem())
		}
		m.value = l.text[start:d.i]
		l.members, l.values = append(l.members, m), append(l.values, value)
		return err
	})
	return err == nil && d.end() == nil
}

// fault returns the first fault of a line: first of its JSON, then of its types, member by member.
func (l *Line) fault() *BadLine {
	l.members, l.values, l.brief = nil, nil, nil
	s := &scanner{b: l.text}
	if s.peek() != '{' {
		if s.i == len(s.b) {
			return bad(CodeInvalidJSON, "the line is empty")
		}
		return s.fault("'{'")
	}
	err := s.object(func(name, key []byte) *BadLine {
		value, err := s.skip()
		l.members = append(l.members, member{string(name), key, value})
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return err
	}
	return l.check()
}

// check decodes the known members and checks them against the schema.
func (l *Line) check() *BadLine {
	l.values = make([]any, len(l.members))
	for i, m := range l.members {
		if l.values[i] = known(m.name); l.values[i] == nil {
			continue
		}
		if err := decode(m.value, reflect.ValueOf(l.values[i]).Elem(), m.name); err != nil {
			l.noteID()
			return err
		}
	}
	return nil
}

// noteID stores the id if it is readable, so that an error line can have it.
func (l *Line) noteID() {
	var id string
	if l.Decode("id", &id) == nil && validID(id) {
		l.id = id
	}
}

// Kind returns the kind of l.
func (l *Line) Kind() LineKind { return l.kind }

// ID returns the line's id; the lines of one action share it.
func (l *Line) ID() string { return l.id }

func (l *Line) index(name string) int {
	for i := range l.members {
		if l.members[i].name == name {
			return i
		}
	}
	return -1
}

// Has reports whether the line has the member.
func (l *Line) Has(name string) bool { return l.index(name) >= 0 }

// Raw returns the member's text, or nil if it is absent. The caller must not change it.
func (l *Line) Raw(name string) []byte {
	if i := l.index(name); i >= 0 {
		return l.members[i].value
	}
	return nil
}

// Decode decodes the member into v, which points to its type, by the rules of [DecodeStrict]. It
// returns [ErrAbsent] if the line has no such member. The value shares lists with the line, so the
// caller must not change them.
func (l *Line) Decode(name string, v any) error {
	i := l.index(name)
	if i < 0 {
		return absent(name)
	}
	to := reflect.ValueOf(v).Elem()
	if i < len(l.values) && l.values[i] != nil {
		if from := reflect.ValueOf(l.values[i]).Elem(); from.Type() == to.Type() {
			to.Set(from)
			return nil
		}
	}
	if err := decode(l.members[i].value, to, name); err != nil {
		err.ID = l.id
		return err.from(l.AppendTo(nil))
	}
	return nil
}

// Brief is [Line.Decode] for the facts, and stores only what naming the action and reading its output
// require: the id and the format of the tool, and the name and the position of the first command. Of
// facts that were decoded before it stores all.
func (l *Line) Brief(f *Facts) error {
	if l.brief == nil {
		return l.Decode("facts", f)
	}
	*f = *l.brief
	return nil
}

// Set replaces or appends a member. Nil lists and maps in v are written as empty ones.
func (l *Line) Set(name string, v any) error {
	from := reflect.ValueOf(v)
	if from.Kind() == reflect.Pointer {
		from = from.Elem()
	}
	value := reflect.New(from.Type())
	value.Elem().Set(from)
	fill(value.Elem())
	text, err := encode(value.Interface())
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	l.changed(name)
	i := l.index(name)
	if i < 0 {
		l.members = append(l.members, member{name: name, key: appendString(nil, name)})
		i = len(l.members) - 1
	}
	for len(l.values) < len(l.members) {
		l.values = append(l.values, nil)
	}
	l.members[i].value, l.values[i] = text, value.Interface()
	return nil
}

// Delete removes a member, if the line has it.
func (l *Line) Delete(name string) {
	i := l.index(name)
	if i < 0 {
		return
	}
	l.members = append(l.members[:i:i], l.members[i+1:]...)
	if i < len(l.values) {
		l.values = append(l.values[:i:i], l.values[i+1:]...)
	}
	l.changed(name)
}

// changed forgets what no longer agrees with the members.
func (l *Line) changed(name string) {
	l.text = nil
	if name == "facts" {
		l.brief = nil
	}
}

// AppendTo appends the line with its newline. An unchanged line is written byte for byte as it was
// read.
func (l *Line) AppendTo(dst []byte) []byte {
	if l.text != nil {
		return append(append(dst, l.text...), '\n')
	}
	dst = append(dst, '{')
	for i, m := range l.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, m.key...), ':'), m.value...)
	}
	return append(dst, '}', '\n')
}

// Subject returns what a decision is bound to: "sha256:" and the SHA-256, in hex, of the
// [Canonical] JSON of {action, actor, facts}. If the line lacks one of the three, the error is
// [ErrAbsent].
func (l *Line) Subject() (string, error) {
	text := []byte{'{'}
	for i, name := range []string{"action", "actor", "facts"} {
		raw := l.Raw(name)
		if raw == nil {
			return "", absent(name)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, '"'), name...), '"', ':')
		var err *BadLine
		if text, err = appendCanonical(text, raw); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256(append(text, '}'))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}
