package shell

import "strings"

// sedScript finds the r, w and e commands of a sed script, and the flags w and e of s: r FILE reads,
// w FILE writes, e runs (GNU sed, "Commands", "The s Command"). It reads the script command by
// command and stops at a command that it does not know.
func (do *doing) sedScript(script field, inv invocation) {
	s := sedReader{text: script.text}
	for s.next() {
		switch {
		case s.file != "":
			f := script.from(s.fileAt)
			f.text = s.file
			if s.reads {
				do.readOne(f)
			} else {
				do.writeOne(f, opTruncate)
			}
		case s.runs:
			if s.input || s.code == "" {
				do.risk(riskOpaqueInterpreter)
				do.lack(lackOpaque)
			}
			if s.code == "" {
				continue
			}
			f := script.from(s.fileAt)
			f.text = s.code
			do.shellCode(f, "sed e", &positional{dyn: true}, inv)
		}
	}
}

// sedReader parses a sed script.
type sedReader struct {
	text   string
	i      int
	file   string // of an r or w command
	fileAt int
	reads  bool // an r command
	runs   bool // an e command
	code   string
	input  bool // the code is joined with input at run time: the e flag of s
}

// next reads one command. It returns false at the end, or at a command that it cannot read.
func (s *sedReader) next() bool {
	s.file, s.reads, s.runs, s.code, s.input = "", false, false, "", false
	for s.i < len(s.text) && strings.IndexByte(" \t\n;{}", s.text[s.i]) >= 0 {
		s.i++
	}
	if !s.address() || s.i >= len(s.text) {
		return false
	}
	cmd := s.text[s.i]
	s.i++
	switch cmd {
	case '{', '}':
		return true
	case 's':
		return s.substitute()
	case 'y':
		return s.delimited(2)
	case 'w', 'W':
		s.file = s.line()
	case 'r', 'R':
		s.file, s.reads = s.line(), true
	case 'e':
		s.runs = true
		s.code = s.line()
	case 'a', 'i', 'c', ':', '#':
		s.line()
	case 'b', 't', 'T', 'q', 'Q', 'l', 'L', 'd', 'D', 'p', 'P', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'z', 'F', 'v':
		s.label()
	default:
		return false
	}
	return true
}

// address skips ADDR[,ADDR][!].
func (s *sedReader) address() bool {
	for s.i < len(s.text) {
		switch ch := s.text[s.i]; {
		case ch >= '0' && ch <= '9' || strings.IndexByte("$,~+!IM \t", ch) >= 0:
			s.i++
		case ch == '/':
			if !s.delimited(1) {
				return false
			}
		case ch == '\\' && s.i+1 < len(s.text):
			s.i++
			if !s.delimited(1) {
				return false
			}
		default:
			return true
		}
	}
	return true
}

// delimited skips n parts after the delimiter at the present position: /a/ or /a/b/.
func (s *sedReader) delimited(n int) bool {
	if s.i >= len(s.text) {
		return false
	}
	delimiter := s.text[s.i]
	s.i++
	for bracket := false; s.i < len(s.text); s.i++ {
		switch ch := s.text[s.i]; {
		case ch == '\\':
			s.i++
		case bracket:
			bracket = ch != ']' || s.text[s.i-1] == '[' || s.text[s.i-1] == '^' && s.text[s.i-2] == '['
		case ch == '[' && n > 0 && strings.IndexByte(s.text[s.i:], ']') > 0 && delimiter != '[':
			bracket = strings.IndexByte(s.text[s.i+1:], ']') >= 0 && !strings.Contains(s.text[s.i:s.i+strings.IndexByte(s.text[s.i+1:], ']')+1], string([]byte{delimiter}))
		case ch == delimiter:
			if n--; n == 0 {
				s.i++
				return true
			}
		}
	}
	return false
}

// substitute reads s/a/b/flags.
func (s *sedReader) substitute() bool {
	if !s.delimited(1) {
		return false
	}
	replacement := s.i
	if s.i--; !s.delimited(1) {
		return false
	}
	with := s.text[replacement : s.i-1]
	for s.i < len(s.text) {
		switch ch := s.text[s.i]; {
		case ch == 'w':
			s.i++
			s.file = s.line()
			return true
		case ch == 'e':
			s.runs, s.input, s.fileAt = true, true, replacement
			s.code = replacementText(with)
			s.i++
		case strings.IndexByte("gpiImM0123456789", ch) >= 0:
			s.i++
		default:
			return true
		}
	}
	return true
}

// replacementText returns what a replacement stands for, "" if that depends on the
// input or on the kind of sed: "The s Command" in sed's manual.
func replacementText(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '&':
			return ""
		case ch != '\\':
			out.WriteByte(ch)
		case i+1 == len(text):
			return ""
		default:
			switch i++; {
			case text[i] == 'n':
				out.WriteByte('\n')
			case text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z':
				return ""
			default:
				out.WriteByte(text[i])
			}
		}
	}
	return out.String()
}

func (s *sedReader) line() string {
	for s.i < len(s.text) && (s.text[s.i] == ' ' || s.text[s.i] == '\t') {
		s.i++
	}
	s.fileAt = s.i
	end := strings.IndexByte(s.text[s.i:], '\n')
	if end < 0 {
		end = len(s.text) - s.i
	}
	text := s.text[s.i : s.i+end]
	s.i += end
	return text
}

// label skips the argument of a short command, up to the next command.
func (s *sedReader) label() {
	for s.i < len(s.text) && strings.IndexByte(";\n}", s.text[s.i]) < 0 {
		s.i++
	}
}
