//go:build !linux

package session

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/session/dial"
)

// errSystem says that this system has no sessions, because it has no boundary.
var errSystem = errors.New("sessions need Linux")

// Registry finds sessions.
type Registry struct{}

// Open returns a registry without sessions.
func Open(func(string) string) *Registry { return &Registry{} }

// Dial finds nothing.
func (*Registry) Dial(string) (*Client, error) { return nil, errSystem }

// Join always fails here.
func Join(*dial.Sent) (*Client, error) { return nil, errSystem }

// Names finds nothing.
func (*Registry) Names() ([]string, error) { return nil, nil }

// Ended finds nothing.
func (*Registry) Ended(string) (at time.Time, why string) { return at, "" }

// Lock always fails here.
func (*Registry) Lock(string) (*Lock, error) { return nil, errSystem }

// LockCalls always fails here.
func (*Registry) LockCalls() (*Lock, error) { return nil, errSystem }

// Lock owns a name.
type Lock struct{ Folder, File *os.File }

// Adopt always fails here.
func Adopt(string, *os.File, *os.File) (*Lock, error) { return nil, errSystem }

// Release does nothing.
func (*Lock) Release() {}

// Hand does nothing.
func (*Lock) Hand() {}

// Server is the supervisor of one session.
type Server struct {
	Boundary  Boundary
	Hello     Hello
	PlainTime time.Duration
	Static    Status
}

// Serve always fails here.
func (*Server) Serve(context.Context, *Lock, func()) (string, error) { return "", errSystem }

// Refused does nothing.
func (*Server) Refused(record.Denial) {}

// Client is a connection to a supervisor.
type Client struct{ Hello Hello }

// Close does nothing.
func (*Client) Close() error { return nil }

// End does nothing.
func (*OtherRelease) End() error { return nil }

// Status always fails here.
func (*Client) Status() (Status, error) { return Status{}, errSystem }

// Logs always fails here.
func (*Client) Logs() ([]Log, error) { return nil, errSystem }

// Publish always fails here.
func (*Client) Publish(string, bool) (string, error) { return "", errSystem }

// End always fails here.
func (*Client) End() ([]record.Denial, error) { return nil, errSystem }

// Want is a command that a client wants to run.
type Want struct {
	Argv, Env    []string
	Dir          string
	Timeout      time.Duration
	NoNetwork    bool
	DenyWrite    []string
	DenyRead     []string
	Profile      string
	Limits       Limits
	Evidence     bool
	In, Out, Err *os.File
	Signals      <-chan os.Signal
	Said         io.Writer
	Refused      func(record.Denial)
}

// Run always fails here.
func (*Client) Run(Want) (Exited, error) { return Exited{}, errSystem }
