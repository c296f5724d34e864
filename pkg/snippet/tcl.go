package snippet

import "strings"

// tcl parses a Tcl script. Words in braces are taken literally; in words in quotes or without, the
// commands in brackets run first; Tcl(n).
func tcl(code string, depth int) (acts []Act) {
	if depth > maxDepth {
		return nil
	}
	s := tclScanner{rest: code, depth: depth}
	for s.rest != "" && len(s.acts) < maxActs {
		s.bodies = nil
		if words := s.command(); len(words) > 0 {
			s.run(words)
		}
	}
	return s.acts
}

type tclScanner struct {
	rest   string
	acts   []Act
	depth  int
	bodies []int // indexes of the command's words in braces
}

// command returns the words up to the end of a line or a semicolon.
func (s *tclScanner) command() (words []string) {
	for s.rest != "" {
		switch c := s.rest[0]; {
		case c == '\n' || c == ';':
			s.rest = s.rest[1:]
			return words
		case c == ' ' || c == '\t' || c == '\r':
			s.rest = s.rest[1:]
		case c == '\\' && strings.HasPrefix(s.rest, "\\\n"):
			s.rest = s.rest[2:]
		case c == '#' && len(words) == 0:
			_, s.rest, _ = strings.Cut(s.rest, "\n")
		case c == '{':
			s.bodies = append(s.bodies, len(words))
			words = append(words, s.enclosed('{', '}'))
		case c == '"':
			s.rest = s.rest[1:]
			words = append(words, s.word("\""))
			s.rest = strings.TrimPrefix(s.rest, "\"")
		default:
			words = append(words, s.word(" \t\r\n;"))
		}
	}
	return words
}

// enclosed returns what is in braces or brackets.
func (s *tclScanner) enclosed(open, closing byte) string {
	depth := 0
	for i := 0; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				inner := s.rest[1:i]
				s.rest = s.rest[i+1:]
				return inner
			}
		}
	}
	inner := s.rest[1:]
	s.rest = ""
	return inner
}

func (s *tclScanner) word(stop string) string {
	var b strings.Builder
	for s.rest != "" && !strings.ContainsRune(stop, rune(s.rest[0])) {
		switch c := s.rest[0]; c {
		case '[':
			s.acts = append(s.acts, tcl(s.enclosed('[', ']'), s.depth+1)...)
			b.WriteString(Unknown)
		case '$':
			n := 1
			for n < len(s.rest) && (wordByte(s.rest[n]) || s.rest[n] == ':' || s.rest[n] == '(' || s.rest[n] == ')') {
				n++
			}
			switch name := s.rest[:n]; name {
			case "$::env(HOME)", "$env(HOME)":
				b.WriteByte('~')
			default:
				b.WriteString(Unknown)
			}
			s.rest = s.rest[n:]
		case '\\':
			if len(s.rest) > 1 {
				b.WriteByte(s.rest[1])
			}
			s.rest = s.rest[min(2, len(s.rest)):]
		default:
			b.WriteByte(c)
			s.rest = s.rest[1:]
		}
	}
	return b.String()
}

// run records what a command does; a body in braces is code.
func (s *tclScanner) run(words []string) {
	args := words[1:]
	switch words[0] {
	case "exec", "spawn", "system":
		for len(args) > 0 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
		if words[0] == "system" {
			s.acts = append(s.acts, Act{Shell, []string{strings.Join(args, " ")}})
		} else if len(args) > 0 && args[0] != Unknown {
			s.acts = append(s.acts, Act{Start, args})
		}
	case "open":
		s.open(args)
	case "source":
		if len(args) > 0 {
			s.acts = append(s.acts, Act{Open, args[len(args)-1:]})
		}
	case "file":
		if len(args) > 1 && (args[0] == "delete" || args[0] == "rename") {
			for _, name := range args[1:] {
				if !strings.HasPrefix(name, "-") {
					s.acts = append(s.acts, Act{Tree, []string{name}})
				}
			}
		}
	default:
		for _, i := range s.bodies {
			s.acts = append(s.acts, tcl(words[i], s.depth+1)...)
		}
	}
}

// open handles open FILE MODE, and open "|COMMAND".
func (s *tclScanner) open(args []string) {
	switch {
	case len(args) == 0:
	case strings.HasPrefix(args[0], "|"):
		s.acts = append(s.acts, Act{Shell, []string{args[0][1:]}})
	case len(args) > 1 && strings.ContainsAny(args[1], "wa+"):
		s.acts = append(s.acts, Act{Write, args[:1]})
	default:
		s.acts = append(s.acts, Act{Open, args[:1]})
	}
}
