package printable

import "fmt"

// Sprintf formats as [fmt.Sprintf] does, and passes strings, errors and
// Stringers among the arguments through [Line]. The format must be the
// program's own.
func Sprintf(format string, args ...any) string {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = value(v)
		case error:
			args[i] = value(v.Error())
		case fmt.Stringer:
			args[i] = value(v.String())
		}
	}
	return Text(fmt.Sprintf(format, args...))
}

// value is a string that is formatted as a line. %q escapes by itself, except
// for what the caller's [Text] then escapes.
type value string

// Format implements [fmt.Formatter].
func (v value) Format(f fmt.State, verb rune) {
	text := string(v)
	if verb != 'q' {
		text = Line(text)
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}
