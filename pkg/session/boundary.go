package session

import (
	"context"
	"os"
	"syscall"
	"time"

	"ethos/pkg/record"
)

// Boundary is what a session needs of the sandbox. Its methods may be called
// concurrently.
type Boundary interface {
	// Spawn starts a command. The error is a [*Fault] when nothing ran.
	Spawn(Spawn) (Child, error)
	// Done is closed when the boundary has ended.
	Done() <-chan struct{}
	// End ends everything inside.
	End()
	// Wait returns when everything is gone: why it ended where nobody asked for
	// it, else "", and what was put aside since Look was last called.
	Wait() (why string, left []record.Denial)
	// Look puts aside what was left for git and agents since it was last called.
	Look(context.Context) []record.Denial
	// Publish lets the host reach a port inside, and says where; with anywhere,
	// also at an address that other machines reach. The error is a [*Fault].
	Publish(text string, anywhere bool) (host string, err error)
	// Evidence is what was asked for and verified when the boundary was made.
	Evidence() record.Sandbox
}

// Spawn is a command to start.
type Spawn struct {
	Argv, Env  []string
	Dir        string
	Umask      int
	Streams    [3]*os.File // nil: /dev/null, or with Terminal the terminal
	Terminal   bool        // a new pseudo-terminal is its controlling terminal
	Rows, Cols uint16
	Narrow     Narrow
}

// Child is a command that was started.
type Child interface {
	PID() int           // outside
	Terminal() *os.File // the master of its terminal, or nil; the caller closes it
	Started() time.Time
	// Wait waits for the command itself; what it left in the background lives
	// on. The error is a [*Fault] when it could not be executed; any other says
	// that the session ended under it.
	Wait() (syscall.WaitStatus, error)
	// Denials are what it asked for and could not have, where that is observed.
	// Wait has returned.
	Denials() []record.Denial
	Signal(syscall.Signal) error // to its process group
	Kill()                       // its group and everything that descends from it
}
