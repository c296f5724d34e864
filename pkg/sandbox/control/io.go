// Package control holds the controls of the boundary, one file each: what is asked of the control, what it takes from this machine, its kernel
// calls, how it is verified from outside, what the evidence says of it, and what it gives back. A new control is a file, its line in [New] and its
// name in package plan.
package control

import (
	"os"

	"ethos/pkg/record"
)

// IO is what a run has to do with its surroundings.
type IO struct {
	Stdin, Stdout, Stderr *os.File // become 0, 1 and 2 of the command
	// Signals that arrive here are passed on to the command. May be nil.
	Signals <-chan os.Signal
	// Captured says that standard output and error are read by someone who bounds them.
	Captured bool
	// Began is called with the PID of the command, as it is numbered here, when its
	// boundary has been verified and it has not begun. Nothing runs on an error. May
	// be nil.
	Began func(pid int) error
	// Refused is told of each refused destination when it is first refused, while
	// the command runs. It may be called concurrently, and returns at once. May be
	// nil.
	Refused func(record.Denial)
}

// Command is one command of a session.
type Command struct {
	Argv []string
	Env  []string // whole, as execve(2) takes it
	Dir  string
	// Umask is its file mode creation mask: umask(2).
	Umask int
	// Streams become 0, 1 and 2 of the command; nil is /dev/null, and with
	// Terminal it is the terminal.
	Streams [3]*os.File
	// Terminal gives it a new pseudo-terminal of the session's own devpts as its
	// controlling terminal, with Rows and Cols.
	Terminal   bool
	Rows, Cols uint16
	Narrow     Narrow
}

// Observed in the evidence says that the calls of the command were observed.
const Observed = record.Observed

const watchStuck = Observed + " until something did not answer"

// Narrow is what a command of a session does without that its session has. The
// zero value is nothing.
type Narrow struct {
	NoNetwork bool
	DenyWrite []string // absolute; what is there and below cannot be written
	DenyRead  []string // absolute; nor can it be read
}

// None reports that a command has what its session has.
func (n *Narrow) None() bool { return !n.NoNetwork && len(n.DenyWrite)+len(n.DenyRead) == 0 }
