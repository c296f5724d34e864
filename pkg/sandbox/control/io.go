// Package control holds the controls of the boundary, one file each. The file of a control
// says what is requested, what it acquires on this machine, its system calls, how it is
// verified from outside, what it adds to the evidence, and what it releases. Begin with
// [Control] and the interfaces after it. A new control is one file, one line in [New] and
// its name in package plan.
package control

import (
	"os"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// The states of a control in the evidence.
const (
	Enforced  = "enforced"
	Degraded  = "degraded"
	Absent    = "absent"
	NotWanted = "not_requested"
)

// IO connects a run with its surroundings.
type IO struct {
	Stdin, Stdout, Stderr *os.File // become 0, 1 and 2 of the command
	// Signals that arrive here are passed on to the command. It may be nil.
	Signals <-chan os.Signal
	// Captured says that whoever reads standard output and standard error limits them.
	Captured bool
	// Unread says that nobody reads the evidence. The hashes of what the command writes to a
	// view are then left out.
	Unread bool
	// Began is called with the command's PID, as numbered in this process's PID namespace,
	// after its boundary has been verified and before it begins. If it returns an error,
	// nothing runs. It may be nil.
	Began func(pid int) error
	// Refused is called at the first refusal of each destination, while the command runs.
	// It may be called concurrently and must return at once. It may be nil.
	Refused func(record.Denial)
}

// Command is one command of a session.
type Command struct {
	Argv []string
	Env  []string // complete, as execve(2) takes it
	Dir  string
	// Umask is its file mode creation mask: umask(2).
	Umask int
	// Streams become 0, 1 and 2 of the command. nil is /dev/null or, with Terminal, the
	// terminal.
	Streams [3]*os.File
	// Terminal gives the command a new pseudo-terminal of the session's own devpts as its
	// controlling terminal, with Rows and Cols.
	Terminal   bool
	Rows, Cols uint16
	Narrow     Narrow
	// Limits of memory, processor time and processes are the command's own, in addition to
	// those of the session. Timeout is known here but enforced by whoever starts the
	// command; it bounds the processor time of each process.
	Limits plan.Limits
	// MustCgroup says that a cgroup must hold these limits.
	MustCgroup bool
}

// Observed is the evidence that the calls of the command were observed.
const Observed = record.Observed

const watchStuck = Observed + " until a process did not answer"

// Narrow is what a command of a session lacks compared with its session. The zero value
// removes nothing.
type Narrow struct {
	NoNetwork bool
	DenyWrite []string // absolute; paths that cannot be written, with everything below
	DenyRead  []string // absolute; paths that cannot be read either
}

// None reports whether a command has everything that its session has.
func (n *Narrow) None() bool { return !n.NoNetwork && len(n.DenyWrite)+len(n.DenyRead) == 0 }
