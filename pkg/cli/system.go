package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"ethos/pkg/printable"
)

// System is a command's access to its surroundings.
type System struct {
	Name    string // name of the program, for messages
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Dir     string   // working directory, absolute
	Environ []string // NAME=VALUE; of duplicate names the last counts
	Now     func() time.Time

	lost        error // the first that was met in writing to Stdout
	noDirectory error // why there is no Dir
}

// Getenv returns a variable's value, or "" if it is unset.
func (s *System) Getenv(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(s.Environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}

// placed is the error of a command that starts in no directory. What only tells of
// the program, such as its help, needs none.
func (s *System) placed(kind Kind) error {
	if s.noDirectory == nil {
		return nil
	}
	return Errorf(unexpected(kind), "change to a directory that exists and that you may enter", "working directory: %w", s.noDirectory)
}

// Warn prints a message that does not end the program, and a hint unless it is "".
func (s *System) Warn(message, hint string) { s.message("warning", message, hint) }

// Note prints a message about what went well, and a hint unless it is "".
func (s *System) Note(message, hint string) { s.message("note", message, hint) }

// Ask prints a question, whose answer is typed behind it.
func (s *System) Ask(question string) { _, _ = io.WriteString(s.Stderr, printable.Text(question)) }

// Deny prints what a command that ran was denied, and a hint unless it is "".
func (s *System) Deny(message, hint string) { s.message("denied", message, hint) }

// Fail prints the final error message of a program, and a hint unless it is "".
func (s *System) Fail(message, hint string) { s.message("error", message, hint) }

// message prints a message and its hint. Both may quote hostile input.
// Characters that would control a terminal or be invisible are escaped, and all
// lines but the first are indented, so that no quoted text looks like one of
// our messages.
func (s *System) message(level, message, hint string) {
	fmt.Fprintf(s.Stderr, "%s: %s: %s\n", s.Name, level, hanging(message))
	if hint != "" {
		fmt.Fprintf(s.Stderr, "%s: hint: %s\n", s.Name, hanging(hint))
	}
}

func hanging(text string) string {
	return strings.ReplaceAll(strings.TrimRight(printable.Text(text), "\n"), "\n", "\n    ")
}

// Records returns standard output for records and other JSON. On a terminal,
// characters that would control it or be invisible are escaped as JSON escapes.
func (s *System) Records() io.Writer {
	if IsTerminal(s.Stdout) {
		return printable.NewJSON(s.Stdout)
	}
	return s.Stdout
}

// warnLost warns that a filter's standard output is lost. If a standard stream
// is closed, the Go runtime opens the null device for reading and writing in
// its place, so that writes succeed silently. A deliberate redirection usually
// opens the null device for writing only.
func (s *System) warnLost(kind Kind) {
	if f, ok := s.Stdout.(*os.File); ok && kind == Filter && readWriteNull(f) {
		s.Warn("standard output is closed, or is "+os.DevNull+" opened for reading and writing: all output is lost", "use `>"+os.DevNull+"` if that is intended")
	}
}

// Waits says what the program waits for if its input is a terminal. A user who
// forgot the other end of the pipe would otherwise see nothing.
func (s *System) Waits(what, hint string) {
	if in, ok := s.Stdin.(*os.File); ok && IsTerminal(in) {
		s.Warn("reading "+what+" from the terminal, until Ctrl-D", hint)
	}
}

// IsTerminal reports whether w is a terminal, as opposed to a file, a pipe or
// the null device.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// Print writes text for people to standard output, with unprintable characters
// escaped.
func (s *System) Print(text string) error {
	return s.print(printable.Text(text))
}

// Printf is like [System.Print] with a format. The arguments cannot start new
// lines.
func (s *System) Printf(format string, args ...any) error {
	return s.print(printable.Sprintf(format, args...))
}

// print remembers a failure, so that [Program.Run] tells of it where the caller
// does not.
func (s *System) print(text string) error {
	_, err := s.Stdout.Write([]byte(text))
	s.lost = cmp.Or(s.lost, err)
	return err
}
