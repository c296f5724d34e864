package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// System is what a command has of the world.
type System struct {
	Name    string // of the program, for messages
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Dir     string   // working directory, absolute
	Environ []string // NAME=VALUE; the last of two equal names counts
	Now     func() time.Time
}

// Getenv returns a variable's value, "" when it is unset.
func (s *System) Getenv(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(s.Environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// Warn prints a message that does not end the program, and a hint unless it is "".
func (s *System) Warn(message, hint string) { s.message("warning", message, hint) }

// Fail prints the message that a program ends with, and a hint unless it is "".
func (s *System) Fail(message, hint string) { s.fail(message, hint) }

func (s *System) fail(message, hint string) { s.message("error", message, hint) }

// message prints at most two lines; control characters in them are shown, not sent.
func (s *System) message(level, message, hint string) {
	fmt.Fprintf(s.Stderr, "%s: %s: %s\n", s.Name, level, printable(message))
	if hint != "" {
		fmt.Fprintf(s.Stderr, "%s: hint: %s\n", s.Name, printable(hint))
	}
}

// printable keeps text from steering a terminal: a message may quote hostile input.
func printable(text string) string {
	clean := func(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) }
	if !strings.ContainsFunc(text, clean) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if clean(r) {
			fmt.Fprintf(&out, `\x%02x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
