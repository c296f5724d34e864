package shell

import "strings"

// splitString splits the argument of env -S (env(1), "-S/--split-string"): blanks separate, quotes
// and backslashes protect, and ${NAME} is taken from the environment.
func splitString(f field) []field {
	s := splitter{f: f}
	for s.i = 0; s.i < len(f.text) && !s.done; s.i++ {
		s.byte(f.text[s.i])
	}
	s.end()
	return s.out
}

type splitter struct {
	f     field
	i     int
	quote byte
	b     fieldBuilder
	open  bool
	done  bool
	out   []field
}

func (s *splitter) byte(ch byte) {
	switch {
	case s.quote == 0 && (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\v' || ch == '\f' || ch == '\r'):
		s.end()
	case s.quote == 0 && (ch == '\'' || ch == '"'):
		s.quote, s.open = ch, true
	case ch == s.quote:
		s.quote = 0
	case ch == '\\' && s.i+1 < len(s.f.text):
		s.i++
		s.escape(s.f.text[s.i])
	case s.quote == 0 && ch == '#' && !s.open:
		s.done = true
	default:
		if ch == '$' && s.quote != '\'' {
			s.b.f.dyn = true
		}
		s.open = true
		s.b.text(string([]byte{ch}), s.f.at(s.i))
	}
}

func (s *splitter) escape(ch byte) {
	switch {
	case s.quote == '\'' && ch != '\'' && ch != '\\':
		s.b.text(`\`+string([]byte{ch}), s.f.at(s.i-1))
	case ch == '_' && s.quote == 0:
		s.end()
		return
	case ch == 'c':
		s.done = true
	default:
		text := string([]byte{ch})
		if i := strings.IndexByte("fnrtv_", ch); i >= 0 {
			text = "\f\n\r\t\v "[i : i+1]
		}
		s.b.fixed(text, s.f.at(s.i))
	}
	s.open = true
}

func (s *splitter) end() {
	if !s.open {
		return
	}
	f := s.b.take()
	f.dyn = f.dyn || s.f.dyn
	s.out = append(s.out, f)
	s.open = false
}
