package trace

import (
	"bytes"

	"ethos/pkg/record"
)

// facts decodes the tool's id and format, and the name and position of the first command.
func (s *skimmer) facts(value []byte, f *record.Facts) {
	s.within(value, func(key, value []byte) {
		switch string(key) {
		case "tool":
			s.fields(value, field{"id", &f.Tool.ID}, field{"format", &f.Tool.Format})
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
	s.fields(list[at:], field{"name", &c.Name}, field{"line", &c.Line}, field{"column", &c.Column})
	return c
}
