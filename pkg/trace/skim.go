package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"ethos/pkg/record"
)

// Skim decodes from a stored line only what is needed to name and classify the entry. It does not
// validate the rest: a line was validated when it was stored, and Verify checks that it is
// unchanged. It returns nil for a line that is not a record. Otherwise the entry lacks Line, most
// facts and, unless the tool has an output format, the captured output. isAction distinguishes an
// action from live output. now has the meaning it has for [NewEntry].
func Skim(text []byte, now time.Time) (e *Entry, isAction bool) {
	s := skimmer{b: text}
	e = &Entry{}
	isError, redacted := false, false
	var facts, confine []byte
	s.object(func(key, value []byte) {
		switch string(key) {
		case "time":
			e.Time = s.text(value)
		case "actor":
			a := &e.Actor
			s.fields(value, field{"agent", &a.Agent}, field{"session", &a.Session}, field{"parent", &a.Parent}, field{"admin_approved", &a.AdminApproved})
		case "action":
			a := &e.Action
			s.fields(value, field{"kind", &a.Kind}, field{"argv", &a.Argv}, field{"script", &a.Script}, field{"file", &a.File}, field{"url", &a.URL},
				field{"server", &a.Server}, field{"name", &a.Name}, field{"cwd", &a.Cwd}, field{"workspace", &a.Workspace})
			isAction = true
		case "facts":
			s.facts(value, &e.Facts)
			facts = value
		case "confine":
			confine = value
		case "decision":
			e.Decision = &record.Decision{}
			s.decode(value, e.Decision)
		case "result":
			e.Result = &record.Result{}
			s.result(value, e.Result, e.Facts.Tool.Format != "")
		case "redacted":
			redacted = true
		case "error":
			isError = true
		}
	})
	e.check(redacted)
	if confine != nil && e.Result == nil {
		s.await(e, confine, facts, now)
	}
	if s.bad || isError || isAction && !sound(&e.Action) {
		return nil, false
	}
	return e, isAction
}

// await notes whether the result of a confined call may follow.
func (s *skimmer) await(e *Entry, confine, facts []byte, now time.Time) {
	var c confinement
	if json.Unmarshal(confine, &c) != nil || !c.Applied {
		return
	}
	e.Awaits = true
	limit := 0
	if facts != nil && c.Result {
		s.within(facts, func(key, value []byte) {
			if string(key) == "capabilities" {
				s.fields(value, field{"timeout_seconds", &limit})
			}
		})
	}
	e.Late = c.Result && e.late(int64(limit), now)
}

// sound reports whether an action has what naming it requires.
func sound(a *record.Action) bool {
	return (a.Kind != record.KindExec || len(a.Argv) > 0) && (a.Kind != record.KindFile || a.File != nil)
}

// skimmer scans JSON by its brackets and quotes. It never reads past the end, and records what it
// cannot follow.
type skimmer struct {
	b   []byte
	i   int
	bad bool
}

func (s *skimmer) decode(value []byte, v any) {
	if json.Unmarshal(value, v) != nil {
		s.bad = true
	}
}

func (s *skimmer) text(value []byte) (text string) {
	if n := len(value); n >= 2 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : n-1])
	}
	s.decode(value, &text)
	return text
}

// field is a member of an object, and the variable that its value is decoded to.
type field struct {
	name string
	to   any // *string, *int, *float64 or *bool; encoding/json decodes to any other
}

// fields decodes the named members of an object that was found as a value.
func (s *skimmer) fields(value []byte, list ...field) {
	s.within(value, func(key, value []byte) { s.member(key, value, list) })
}

func (s *skimmer) member(key, value []byte, list []field) {
	for _, f := range list {
		if f.name == string(key) {
			s.set(value, f.to)
			return
		}
	}
}

func (s *skimmer) set(value []byte, to any) {
	switch to := to.(type) {
	case *string:
		*to = s.text(value)
	case *int:
		*to = int(s.number(value))
	case *float64:
		*to = s.number(value)
	case *bool:
		*to = string(value) == "true"
	default:
		if string(value) != "[]" { // most lists are empty
			s.decode(value, to)
		}
	}
}

// capture decodes the output if it is wanted, and of the evidence the denials and the session.
func (s *skimmer) capture(value []byte, c *record.Capture, printed bool) {
	evidence := deniedSomething(value) || bytes.Contains(value, []byte(`"session"`))
	if !printed && !evidence {
		return
	}
	s.within(value, func(key, value []byte) {
		switch {
		case printed && string(key) == "stdout":
			s.stream(value, &c.Stdout)
		case printed && string(key) == "stderr":
			s.stream(value, &c.Stderr)
		case evidence && string(key) == "sandbox":
			s.fields(value, field{"denials", &c.Sandbox.Denials}, field{"session", &c.Sandbox.Session})
		}
	})
}

// deniedSomething reports whether a member "denials" may be other than an empty list. Most are
// empty, and this check is cheaper than a scan. A quote inside a string has a backslash before it,
// so no text looks like a key.
func deniedSomething(text []byte) bool {
	key := []byte(`"denials"`)
	for {
		at := bytes.Index(text, key)
		if at < 0 {
			return false
		}
		text = text[at+len(key):]
		list := skimmer{b: text}
		if !list.take(':') || !list.take('[') || !list.take(']') {
			return true
		}
	}
}

// stream decodes what was kept, and whether that is everything.
func (s *skimmer) stream(value []byte, to *record.Stream) {
	s.fields(value, field{"text", &to.Text}, field{"base64", &to.Base64}, field{"truncated", &to.Truncated})
}

// result decodes everything except the evidence, and the output only if it is wanted.
func (s *skimmer) result(value []byte, r *record.Result, captured bool) {
	list := [...]field{
		{"status", &r.Status}, {"reason", &r.Reason}, {"message", &r.Message}, {"started", &r.Started},
		{"exit_code", &r.ExitCode}, {"signal", &r.Signal}, {"duration_ms", &r.DurationMS},
	}
	s.within(value, func(key, value []byte) {
		if string(key) == "capture" {
			s.capture(value, &r.Capture, captured)
			return
		}
		s.member(key, value, list[:])
	})
}

func (s *skimmer) number(value []byte) float64 {
	n, err := strconv.ParseFloat(string(value), 64)
	s.bad = s.bad || err != nil
	return n
}

// within iterates over an object that was found as a value.
func (s *skimmer) within(value []byte, fn func(key, value []byte)) {
	in := skimmer{b: value}
	in.object(fn)
	s.bad = s.bad || in.bad
}

// object calls fn for each member of the object at i, with the name without quotes and the text of
// the value.
func (s *skimmer) object(fn func(key, value []byte)) {
	if !s.take('{') {
		return
	}
	if s.peek() == '}' {
		s.i++
		return
	}
	for !s.bad {
		key := s.value()
		if len(key) < 2 || key[0] != '"' || !s.take(':') {
			s.bad = true
			return
		}
		value := s.value()
		if s.bad || len(value) == 0 {
			s.bad = true
			return
		}
		fn(key[1:len(key)-1], value)
		if s.peek() == '}' {
			s.i++
			return
		}
		s.take(',')
	}
}

func (s *skimmer) value() []byte {
	c := s.peek()
	from := s.i
	switch c {
	case '"':
		s.quoted()
	case '{', '[':
		s.nested()
	default:
		for s.i < len(s.b) && !isDelimiter(s.b[s.i]) {
			s.i++
		}
	}
	return s.b[from:s.i]
}

func isDelimiter(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// nested skips an object or a list, ignoring brackets in strings.
func (s *skimmer) nested() {
	for depth := 0; s.i < len(s.b); {
		switch c := s.b[s.i]; {
		case !structural[c]:
			s.i++
			continue
		case c == '"':
			s.quoted()
			continue
		case c == '{' || c == '[':
			depth++
		default:
			depth--
		}
		if s.i++; depth == 0 {
			return
		}
	}
	s.bad = true
}

// structural marks the bytes that open or close something.
var structural = [256]bool{'"': true, '{': true, '}': true, '[': true, ']': true}

func (s *skimmer) quoted() {
	s.i++
	for near := min(s.i+16, len(s.b)); s.i < near; s.i++ { // most strings are short
		if c := s.b[s.i]; c == '"' {
			s.i++
			return
		} else if c == '\\' {
			break
		}
	}
	for {
		n := bytes.IndexByte(s.b[s.i:], '"')
		if n < 0 {
			s.bad, s.i = true, len(s.b)
			return
		}
		s.i += n + 1
		if escapes := s.i - 2; s.b[escapes] != '\\' || !oddEscapes(s.b[:escapes+1]) {
			return
		}
	}
}

// oddEscapes reports whether text ends in an odd number of backslashes.
func oddEscapes(text []byte) bool {
	n := 0
	for n < len(text) && text[len(text)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func (s *skimmer) take(c byte) bool {
	if s.peek() != c {
		s.bad = true
		return false
	}
	s.i++
	return true
}

// peek skips space and returns the next byte, or 0 at the end.
func (s *skimmer) peek() byte {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
	if s.i == len(s.b) {
		return 0
	}
	return s.b[s.i]
}
