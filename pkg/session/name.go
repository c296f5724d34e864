package session

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// maxName keeps a file of this name with any ending of ours below NAME_MAX.
const maxName = 64

// CheckName reports why a text is no name of a session. A name is 1 to 64 letters,
// digits, and "-", "_" or ".", of which the first is a letter or a digit.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name of a session is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name of a session has %d bytes, and at most %d are allowed", len(name), maxName)
	}
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || strings.IndexByte("-_.", c) < 0) {
			return fmt.Errorf("%q is no name of a session: it begins with a letter or a digit, and has letters, digits, or one of -_. after it", name)
		}
	}
	return nil
}

// NewName makes up a name.
func NewName() string { return "s-" + strings.ToLower(rand.Text()[:8]) }

// auto begins the word for a session that is started where it does not run.
const auto = "auto:"

// Wanted reads what follows --session: NAME, or auto:NAME for a session that is
// started where it does not run.
func Wanted(word string) (name string, start bool, err error) {
	name, start = strings.CutPrefix(word, auto)
	return name, start, CheckName(name)
}
