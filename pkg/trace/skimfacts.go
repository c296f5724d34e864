package trace

import (
	"bytes"
	"errors"

	"ethos/pkg/record"
)

// skimFacts decodes the facts of an entry from checked text, or nil if there are none.
func skimFacts(text []byte, f *record.Facts) error {
	if s := (skimmer{b: text}); text != nil {
		if s.facts(text, f); s.bad {
			return errors.New("facts: not an object")
		}
	}
	return nil
}

// facts decodes the tool's id and format, and the name and position of the first command.
func (s *skimmer) facts(value []byte, f *record.Facts) {
	s.within(value, func(key, value []byte) {
		switch string(key) {
		case "tool":
			s.within(value, func(key, value []byte) {
				switch string(key) {
				case "id":
					f.Tool.ID = s.text(value)
				case "format":
					f.Tool.Format = s.text(value)
				}
			})
		case "shell":
			s.within(value, func(key, value []byte) {
				if string(key) == "commands" && len(value) > 2 {
					f.Shell.Commands = []record.Command{s.firstCommand(value)}
				}
			})
		}
	})
}

// firstCommand decodes the name and the position of the first command in a list.
func (s *skimmer) firstCommand(list []byte) (c record.Command) {
	at := bytes.IndexByte(list, '{')
	if at < 0 {
		return c
	}
	first := skimmer{b: list, i: at}
	first.object(func(key, value []byte) {
		switch string(key) {
		case "name":
			c.Name = s.text(value)
		case "line":
			c.Line = int(s.number(value))
		case "column":
			c.Column = int(s.number(value))
		}
	})
	return c
}
