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
	// Evidence returns what was requested and verified when the boundary was
	// created.
	Evidence() record.Sandbox
}

// Spawn describes a command to start.
type Spawn struct {
	Argv, Env  []string
	Dir        string
	Umask      int
	Streams    [3]*os.File // nil: /dev/null or, with Terminal, the terminal
	Terminal   bool        // the controlling terminal is a new pseudo-terminal
	Rows, Cols uint16
	Narrow     Narrow
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
	// Denials returns what the command was refused, if that is observed. Call
	// it after Wait has returned.
	Denials() []record.Denial
	Signal(syscall.Signal) error // to its process group
	Kill()                       // its process group and all its descendants
}
