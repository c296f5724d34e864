package dial

import (
	"errors"
	"fmt"
)

// ErrNone says that no session with the name is running.
const ErrNone = none("no such session runs")

// none is a type, because a variable of another package would be copied at each start of a program.
type none string

func (n none) Error() string { return string(n) }

// Served returns the programs whose calls a session serves.
func Served() []string { return []string{"ethos-facts", "ethos-decide"} }

// CallSocket returns the name of a program's socket, without [SocketEnding]. No
// session has such a name.
func CallSocket(program string) string { return callPrefix + program }

const callPrefix = "."

// Operand reports whether an argument is no option.
func Operand(arg string) bool { return arg != "" && arg[0] != '-' }

// maxName limits a name so that it stays below NAME_MAX with any of our file
// extensions.
const maxName = 64

// CheckName returns an error if a text is not a valid session name. A name has
// 1 to 64 letters, digits, and "-", "_" or "."; the first is a letter or a
// digit.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a session is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name of a session has %d bytes, and at most %d are allowed", len(name), maxName)
	}
	if !valid(name) {
		return fmt.Errorf("%q is not a valid session name: use letters, digits, '-', '_' and '.', beginning with a letter or digit", name)
	}
	return nil
}

// valid reports whether a text is a session name: see [CheckName].
func valid(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '-' && c != '_' && c != '.') {
			return false
		}
	}
	return true
}

// auto is the prefix for a session that is started if it is not running.
const auto = "auto:"

// Wanted parses the value of --session: NAME, or auto:NAME for a session that
// is started if it is not running.
func Wanted(word string) (name string, start bool, err error) {
	name, start = split(word)
	return name, start, CheckName(name)
}

// Named returns the name in a value of --session if it is valid.
func Named(word string) (name string, ok bool) {
	name, _ = split(word)
	return name, valid(name)
}

func split(word string) (name string, start bool) {
	if start = len(word) >= len(auto) && word[:len(auto)] == auto; start {
		word = word[len(auto):]
	}
	return word, start
}
