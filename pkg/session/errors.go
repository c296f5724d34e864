package session

import (
	"errors"

	"ethos/pkg/session/dial"
)

// ErrNone says that no session with the name is running.
const ErrNone = dial.ErrNone

var (
	// ErrBusy says that another process owns a name: its session is running,
	// starting or ending.
	ErrBusy = errors.New("another process uses the name of the session")
	// ErrBroken says that the supervisor ended before it answered.
	ErrBroken = errors.New("the supervisor of the session ended before it answered")
)

// OtherRelease is the error of connecting to a supervisor of another release,
// which understands no request of this one.
type OtherRelease struct {
	Name  string // of the session
	pidfd int    // of the supervisor
}

func (o *OtherRelease) Error() string {
	return "session " + o.Name + " was started by another release of ethos-sandbox"
}
