package early

import (
	"time"
	_ "unsafe" // for go:linkname

	"ethos/pkg/entry" // calls before
	"ethos/pkg/session/dial"
)

// patience is how long the rest of the program is put off. Its start takes
// longer than many commands. Until main catches signals they have their default
// action, which ends this process and thereby the command.
const patience = 10 * time.Millisecond

// These may be set before the Go runtime starts, so their initial values are
// zero.
var (
	buffer dial.Buffer
	sent   *dial.Sent
)

// before requests a command, and reports whether it is over. If nothing was
// requested, main tries it again and says what is wrong. For a command that is
// not one in a session, it has init cloned.
//
//go:linkname before ethos/pkg/entry.before
func before(args, env []string) (status int, over bool) {
	name, argv, ok := Plain(args)
	if !ok {
		if entry.BeforeRuntime() && clones(args) {
			prefork(args)
		}
		return 0, false
	}
	sent = buffer.Send(env, name, argv)
	return 0, sent != nil && sent.Succeeds(patience)
}

// clones reports whether a command line has a boundary of its own made: it is a
// run outside of any session.
func clones(args []string) bool {
	if len(args) < 2 || args[1] != "run" {
		return false
	}
	const session = "--session"
	for _, word := range args[2:] {
		switch {
		case word == "--":
			return true
		case len(word) >= len(session) && word[:len(session)] == session:
			return false
		}
	}
	return false
}

// Take returns the connection on which the command was requested, the first
// time; else nil.
func Take() *dial.Sent {
	s := sent
	sent = nil
	return s
}
