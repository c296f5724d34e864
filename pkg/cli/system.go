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

// System is what a command has of the world.
type System struct {
	Name    string // of the program, for messages
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Dir     string   // working directory, absolute
	Environ []string // NAME=VALUE; the last of two equal names counts
	Now     func() time.Time

	lost        error // the first that was met in writing to Stdout
	noDirectory error // why there is no Dir
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

// Deny prints what was denied to a command that ran, and a hint unless it is "".
func (s *System) Deny(message, hint string) { s.message("denied", message, hint) }

// Fail prints the message that a program ends with, and a hint unless it is "".
func (s *System) Fail(message, hint string) { s.fail(message, hint) }

func (s *System) fail(message, hint string) { s.message("error", message, hint) }

// message prints a message and its hint. Both may quote hostile input: what
// would steer a terminal or not be seen is escaped, and a line that is not the
// first is indented, so that no text passes for a message of ours.
func (s *System) message(level, message, hint string) {
	fmt.Fprintf(s.Stderr, "%s: %s: %s\n", s.Name, level, hanging(message))
	if hint != "" {
		fmt.Fprintf(s.Stderr, "%s: hint: %s\n", s.Name, hanging(hint))
	}
}

func hanging(text string) string {
	return strings.ReplaceAll(strings.TrimRight(printable.Text(text), "\n"), "\n", "\n    ")
}

// Records is standard output for records and other JSON. On a terminal, what
// would steer it or not be seen is escaped in the manner of JSON.
func (s *System) Records() io.Writer {
	if IsTerminal(s.Stdout) {
		return printable.NewJSON(s.Stdout)
	}
	return s.Stdout
}

// warnLost says that what a filter writes to standard output is lost. The Go
// runtime opens the null device for reading and writing in the place of a
// standard stream that is closed, so that nothing fails where it is written; who
// sends the output there on purpose mostly opens it for writing alone.
func (s *System) warnLost(kind Kind) {
	if f, ok := s.Stdout.(*os.File); ok && kind == Filter && readWriteNull(f) {
		s.Warn("standard output is closed, or is "+os.DevNull+" opened for reading and writing: what is written there is lost", "`>"+os.DevNull+"` says that this is meant")
	}
}

// Waits says what the program waits for, where that is typed on a terminal: who
// forgot the other end of the pipe would see nothing.
func (s *System) Waits(what, hint string) {
	if in, ok := s.Stdin.(*os.File); ok && IsTerminal(in) {
		s.Warn("reading "+what+" from the terminal, up to Ctrl-D", hint)
	}
}

// IsTerminal tells a terminal from files, pipes and the null device.
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

// Print writes text for people to standard output, made printable.
func (s *System) Print(text string) error {
	return s.print(printable.Text(text))
}

// Printf is [System.Print] of a format, whose arguments stay in their line.
func (s *System) Printf(format string, args ...any) error {
	return s.print(printable.Sprintf(format, args...))
}

// print remembers a failure, so that [Program.Run] tells of it where the caller
// does not.
func (s *System) print(text string) error {
	_, err := io.WriteString(s.Stdout, text)
	s.lost = cmp.Or(s.lost, err)
	return err
}
