// Package dial connects to the supervisor of a session and requests a command
// there. It is the part of package session that a client needs first:
//
//	fd, err := dial.Connect(folder, "work")    // ErrNone: no such session runs
//	pid, err := dial.Peer(fd, false)           // who listens there
//	sent := new(dial.Buffer).Send(env, "work", c) // both, and the request for a command
//
// It imports few packages, and none that are slow to initialise, because a
// client may use it before the rest of its program is initialised. A test keeps
// it so. [Buffer.Send] and [Sent.Succeeds] can even be called before the Go runtime
// has started: see docs/decisions/0061-a-request-before-the-runtime.md.
package dial
