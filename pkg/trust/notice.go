package trust

import (
	"fmt"

	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// Pending returns the files of a list that do not apply in full because nobody has trusted them.
func Pending(list []record.Configuration) (out []record.Configuration) {
	for _, c := range list {
		if !c.Trusted && len(c.Widens) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// Notice states in one line which part of a file does not apply, and how a person changes that. The
// line contains no terminal control sequence.
func Notice(c record.Configuration) string {
	what := printable.Line(c.Widens[0])
	if more := len(c.Widens) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s widens what commands may do (%s); nobody has trusted it, so that does not apply: %s", printable.Line(c.Path), what, Command(c.Path))
}

// Command returns the shell command line by which a person trusts a file.
func Command(file string) string {
	return "ethos-decide trust " + printable.Word(file)
}
