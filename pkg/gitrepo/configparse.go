package gitrepo

import (
	"fmt"
	"strings"
)

// Entry is one configuration setting.
type Entry struct {
	Key   string // canonical: section and variable in lower case, subsection as written
	Value string // "true" if the variable has no value
	Bare  bool   // the variable has no value, which git reads as true
	Scope string // system | global | local | worktree
	File  string
	Line  int
	// Start and End are the range of the entry in the text of its file, from its name to the end of
	// its last line.
	Start, End int
}

// SyntaxError is a line that git would not accept either.
type SyntaxError struct {
	File string
	Line int
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// ParseConfig parses the text of one configuration file by the syntax of git-config(1), as config.c
// implements it. It calls each for every variable, and does not follow includes.
func ParseConfig(file string, text []byte, each func(Entry) error) error {
	return newConfigParser(file, text, each).parse()
}

func newConfigParser(file string, text []byte, each func(Entry) error) *configParser {
	p := &configParser{file: file, text: strings.TrimPrefix(string(text), "\ufeff"), line: 1, each: each, headed: func(int, int) {}}
	p.mark = len(text) - len(p.text)
	return p
}

func (p *configParser) parse() error {
	for !p.end {
		if err := p.item(); err != nil {
			return err
		}
	}
	return nil
}

type configParser struct {
	file    string
	text    string
	pos     int
	line    int
	end     bool   // next has returned the newline that stands for the end of the file
	section string // with its dot
	each    func(Entry) error
	headed  func(start, end int) // called for every section header
	mark    int                  // length of a byte order mark before text
}

func (p *configParser) fail(msg string) error {
	return &SyntaxError{File: p.file, Line: p.line, Msg: msg}
}

// next returns the next byte. "\r\n" is read as "\n", and so is the end of the file.
func (p *configParser) next() byte {
	if p.pos >= len(p.text) {
		p.end = true
		return '\n'
	}
	b := p.text[p.pos]
	p.pos++
	if b == '\r' && p.pos < len(p.text) && p.text[p.pos] == '\n' {
		p.pos++
		b = '\n'
	}
	if b == '\n' {
		p.line++
	}
	return b
}

// item reads one section header, variable, comment or blank.
func (p *configParser) item() error {
	switch b := p.next(); {
	case space(b):
		return nil
	case b == '#' || b == ';':
		p.comment()
		return nil
	case b == '[':
		start := p.pos - 1
		if err := p.header(); err != nil {
			return err
		}
		p.headed(p.mark+start, p.mark+p.pos)
		return nil
	case letter(b):
		return p.variable(b)
	default:
		return p.fail(fmt.Sprintf("unexpected %q", b))
	}
}

func (p *configParser) comment() {
	for p.next() != '\n' {
	}
}

// header reads the text after "[": name], name.sub] or name "sub"].
func (p *configParser) header() error {
	var name strings.Builder
	for {
		switch b := p.next(); {
		case p.end:
			return p.fail("section header does not end")
		case b == ']':
			p.section = name.String() + "."
			return nil
		case space(b):
			return p.subsection(&name, b)
		case keyByte(b) || b == '.':
			name.WriteByte(lower(b))
		default:
			return p.fail(fmt.Sprintf("unexpected %q in a section name", b))
		}
	}
}

// subsection reads the quoted part of a header. A backslash makes the next byte literal.
func (p *configParser) subsection(name *strings.Builder, b byte) error {
	for ; space(b); b = p.next() {
		if b == '\n' {
			return p.fail("section header does not end")
		}
	}
	if b != '"' {
		return p.fail("subsection is not quoted")
	}
	name.WriteByte('.')
	for {
		b := p.next()
		if b == '\\' {
			b = p.next()
		} else if b == '"' {
			break
		}
		if b == '\n' {
			return p.fail("subsection does not end")
		}
		name.WriteByte(b)
	}
	if p.next() != ']' {
		return p.fail("section header does not end")
	}
	p.section = name.String() + "."
	return nil
}

// variable reads name [= value]. Before any section the key is only the name, which git accepts
// too.
func (p *configParser) variable(b byte) error {
	line, start := p.line, p.mark+p.pos-1
	name := []byte{lower(b)}
	for b = p.next(); keyByte(b); b = p.next() {
		name = append(name, lower(b))
	}
	for b == ' ' || b == '\t' {
		b = p.next()
	}
	e := Entry{Key: p.section + string(name), Value: "true", Bare: true, File: p.file, Line: line, Start: start}
	if b != '\n' {
		if b != '=' {
			return p.fail("variable without =")
		}
		value, err := p.value()
		if err != nil {
			return err
		}
		e.Value, e.Bare = value, false
	}
	e.End = p.mark + p.pos
	return p.each(e)
}

// value reads to the end of the line. Quotes keep blanks and comment characters, a backslash
// escapes or continues the line, and blanks at both ends are removed.
func (p *configParser) value() (string, error) {
	var (
		out    []byte
		keep   int // length of out without trailing blanks
		quoted bool
	)
	for {
		b := p.next()
		switch {
		case b == '\n':
			if quoted {
				return "", p.fail("quote does not end")
			}
			return string(out[:keep]), nil
		case space(b) && !quoted:
			if len(out) > 0 {
				out = append(out, b)
			}
			continue
		case (b == '#' || b == ';') && !quoted:
			p.comment()
			return string(out[:keep]), nil
		case b == '"':
			quoted = !quoted
			keep = len(out)
			continue
		case b == '\\':
			escaped, skip, err := p.escape()
			if err != nil {
				return "", err
			}
			if skip {
				continue
			}
			b = escaped
		}
		out = append(out, b)
		keep = len(out)
	}
}

// escape reads the text after a backslash; skip reports that the line continues.
func (p *configParser) escape() (b byte, skip bool, err error) {
	switch b = p.next(); b {
	case '\n':
		return 0, true, nil
	case 't':
		return '\t', false, nil
	case 'b':
		return '\b', false, nil
	case 'n':
		return '\n', false, nil
	case '\\', '"':
		return b, false, nil
	}
	return 0, false, p.fail(fmt.Sprintf("unknown escape \\%c", b))
}

// space reports what git's isspace does (sane-ctype.h): unlike the C library's, it leaves out \v and
// \f, which belong to a value.
func space(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func letter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
func keyByte(b byte) bool {
	return letter(b) || b >= '0' && b <= '9' || b == '-'
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
