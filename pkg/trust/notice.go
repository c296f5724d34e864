package trust

import (
	"fmt"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// Pending are the files of a list that give less than they say, because nobody
// has trusted them.
func Pending(list []record.Configuration) (out []record.Configuration) {
	for _, c := range list {
		if !c.Trusted && len(c.Widens) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// Notice says in one line what of a file does not apply, and how a person
// changes that. Nothing in it steers a terminal.
func Notice(c record.Configuration) string {
	what := printable.Line(c.Widens[0])
	if more := len(c.Widens) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s widens what commands may do (%s); nobody has trusted it, so that does not apply: %s", printable.Line(c.Path), what, Command(c.Path))
}

// Command is the command line by which a person trusts a file, for a shell.
func Command(file string) string {
	return "ethos-decide trust " + printable.Word(file)
}
