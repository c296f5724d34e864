package session

import (
	"context"
	"os"
	"syscall"
	"time"

	"ethos/pkg/record"
)

// Boundary is the interface through which a session uses the sandbox. Its
// methods may be called concurrently.
type Boundary interface {
	// Spawn starts a command. The error is a [*Fault] if nothing ran.
	Spawn(Spawn) (Child, error)
	// Expect says that a command will probably be requested within some
	// milliseconds. It may take longer.
	Expect(context.Context)
	// Prepare prepares the start of the next command, so that it takes less
	// time.
	Prepare()
	// Spare returns the PID, in the outer PID namespace, of a process that waits
	// to become the next command, or 0.
	Spare() int
	// Done returns a channel that is closed when the boundary has ended.
	Done() <-chan struct{}
	// End terminates everything inside.
	End()
	// Wait returns when everything inside is gone. why says why the boundary
	// ended if nobody asked for it, else it is "". left lists what was
	// quarantined since the last call of Look.
	Wait() (why string, left []record.Denial)
	// Look quarantines what was left for git and agents since its last call.
	Look(context.Context) []record.Denial
	// Publish makes a port inside reachable from the host, and returns the
	// host's address for it. If anywhere is set, other machines can reach it
	// too. The error is a [*Fault].
	Publish(text string, anywhere bool) (host string, err error)
}

// Spawn describes a command to start.
type Spawn struct {
	Argv, Env  []string
	Plain      bool // Env is that of the client, and the boundary makes the command's
	Dir        string
	Umask      int
	Streams    [3]*os.File // nil: /dev/null or, with Terminal, the terminal
	Terminal   bool        // the controlling terminal is a new pseudo-terminal
	Rows, Cols uint16
	Narrow     Narrow
	Limits     Limits
	Timeout    time.Duration // which the session enforces; 0 means none
}

// Child is a running command.
type Child interface {
	PID() int           // in the outer PID namespace
	Terminal() *os.File // the master side of its terminal, or nil; the caller closes it
	Started() time.Time
	// Wait waits for the command itself; its background processes live on. The
	// error is a [*Fault] if the command could not be executed. Any other error
	// says that the session ended before the command.
	Wait() (syscall.WaitStatus, error)
	// Denials returns the limits that had an effect on the command and, if that
	// is observed, what it was refused. It and the next three are to be called
	// after Wait has returned.
	Denials() []record.Denial
	// Killed returns the status of a record if a memory limit ended the
	// command, else "".
	Killed() string
	// Unheld returns why the command's limit of processor time is not in force,
	// else "".
	Unheld() string
	// Evidence returns what was requested and verified when the boundary was
	// created, with the command's own limits and what it has used.
	Evidence() record.Sandbox
	Signal(syscall.Signal) error // to its process group
	Kill()                       // its process group and all its descendants
}
