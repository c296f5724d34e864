package session

import "errors"

var (
	// ErrNone says that no session runs under a name.
	ErrNone = errors.New("no such session runs")
	// ErrBusy says that another process owns a name: its session runs, or is being
	// started or ended.
	ErrBusy = errors.New("another process has the name of the session")
	// ErrBroken says that the supervisor ended before it answered.
	ErrBroken = errors.New("the supervisor of the session ended before it answered")
)
