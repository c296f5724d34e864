package seatbelt

import (
	"fmt"
	"slices"
	"strings"
)

// form is one expression of a profile: a list, or an atom.
type form struct {
	list    []form
	text    string // of an atom, without its quotation marks
	kind    atom
	pattern bool // the text is a regular expression: #"…"
}

type atom int

const (
	isList atom = iota
	isWord
	isString
)

// reader reads the expressions of a profile. It knows the part of the language that [Write] uses,
// and refuses everything else.
type reader struct {
	text string
	at   int
}

func (r *reader) fault(format string, args ...any) error {
	return fmt.Errorf("profile, line %d: %w", 1+strings.Count(r.text[:min(r.at, len(r.text))], "\n"), fmt.Errorf(format, args...))
}

// skip passes over space and comments.
func (r *reader) skip() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\n':
			r.at++
		case ';':
			n := strings.IndexByte(r.text[r.at:], '\n')
			if n < 0 {
				n = len(r.text) - r.at
			}
			r.at += n
		default:
			return
		}
	}
}

// maxDepth bounds the nesting of expressions.
const maxDepth = 8

func (r *reader) form(depth int) (form, error) {
	r.skip()
	rest := r.text[r.at:]
	switch {
	case rest == "":
		return form{}, r.fault("an expression ends early")
	case depth > maxDepth:
		return form{}, r.fault("expressions are nested more than %d deep", maxDepth)
	case rest[0] == '(':
		return r.list(depth)
	case strings.HasPrefix(rest, `#"`):
		r.at++
		return r.raw()
	case rest[0] == '"':
		return r.string()
	}
	n := strings.IndexFunc(rest, func(c rune) bool { return !wordly(c) })
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		return form{}, r.fault("unexpected %q", rest[:1])
	}
	r.at += n
	return form{kind: isWord, text: rest[:n]}, nil
}

func wordly(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-*_", c)
}

func (r *reader) list(depth int) (form, error) {
	r.at++
	var f form
	for {
		if r.skip(); r.at < len(r.text) && r.text[r.at] == ')' {
			r.at++
			return f, nil
		}
		item, err := r.form(depth + 1)
		if err != nil {
			return f, err
		}
		f.list = append(f.list, item)
	}
}

// string reads a string, in which a backslash precedes a quotation mark or a backslash.
func (r *reader) string() (form, error) {
	var b strings.Builder
	for i := r.at + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
			return form{kind: isString, text: b.String()}, nil
		case c == '\\' && i+1 < len(r.text) && (r.text[i+1] == '"' || r.text[i+1] == '\\'):
			i++
			b.WriteByte(r.text[i])
		case c == '\\' || c < ' ' || c == 0x7f:
			return form{}, r.fault("a string contains %q", c)
		default:
			b.WriteByte(c)
		}
	}
	return form{}, r.fault("a string does not end")
}

// raw reads a regular expression, which ends at the next quotation mark.
func (r *reader) raw() (form, error) {
	n := strings.IndexByte(r.text[r.at+1:], '"')
	if n < 0 {
		return form{}, r.fault("a regular expression does not end")
	}
	text := r.text[r.at+1 : r.at+1+n]
	r.at += n + 2
	return form{kind: isString, text: text, pattern: true}, nil
}

// Parsed is a profile that has been read.
type Parsed struct{ rules []rule }

type rule struct {
	allow      bool
	operations []string
	filters    []filter // any of them; none matches everything
}

// operations are the operations and groups that a profile may name.
var operations = []string{
	"file-read*", "file-write*", "file-read-metadata", "file-write-data", "file-write-create", "file-write-unlink", "file-write-setugid", "file-map-executable", "file-ioctl",
	"process-exec*", "process-fork", "process-info*", "signal", "mach-lookup", "sysctl-read", "ipc-posix-shm-read*", "system-socket", "network-outbound", "network-bind", "network-inbound",
}

// Parse reads a profile. It begins with (version 1) and (deny default). Parameters are replaced by
// their values. What Parse does not know is an error.
func Parse(text string, parameters map[string]string) (*Parsed, error) {
	r := &reader{text: text}
	p := &Parsed{}
	for n := 0; ; n++ {
		if r.skip(); r.at == len(text) && n >= 2 {
			return p, p.mixed()
		}
		f, err := r.form(0)
		if err != nil {
			return nil, err
		}
		switch {
		case n == 0 && f.is("version", "1"), n == 1 && f.is("deny", "default"):
		case n < 2:
			return nil, r.fault("a profile begins with (version 1) and (deny default)")
		default:
			one, err := ruleOf(f, parameters)
			if err != nil {
				return nil, r.fault("%w", err)
			}
			p.rules = append(p.rules, one)
		}
	}
}

func (f *form) is(words ...string) bool {
	return f.kind == isList && slices.EqualFunc(f.list, words, func(f form, w string) bool { return f.kind == isWord && f.text == w })
}

func ruleOf(f form, parameters map[string]string) (r rule, err error) {
	if len(f.list) < 2 || f.list[0].kind != isWord || f.list[0].text != "allow" && f.list[0].text != "deny" {
		return r, fmt.Errorf("a rule is (allow …) or (deny …)")
	}
	r.allow = f.list[0].text == "allow"
	for _, part := range f.list[1:] {
		switch {
		case part.kind == isWord && len(r.filters) == 0 && slices.Contains(operations, part.text):
			r.operations = append(r.operations, part.text)
		case part.kind == isList && len(r.operations) > 0:
			one, err := filterOf(part, parameters)
			if err != nil {
				return r, err
			}
			r.filters = append(r.filters, one)
		default:
			return r, fmt.Errorf("unknown operation or filter %q", part.text)
		}
	}
	return r, nil
}

// mixed reports an operation with rules of both kinds. A rule without a filter may decide whatever
// follows it, so such a profile could be read in two ways.
func (p *Parsed) mixed() error {
	bare := map[string]bool{}
	for _, r := range p.rules {
		for _, name := range r.operations {
			without := len(r.filters) == 0
			if was, seen := bare[name]; seen && (was != without || without) {
				return fmt.Errorf("profile: %s has rules besides one without a filter", name)
			}
			bare[name] = without
		}
	}
	return nil
}
