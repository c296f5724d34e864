package early

import (
	"time"
	_ "unsafe" // for go:linkname

	_ "ethos/pkg/entry" // calls before
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
// requested, main tries it again and says what is wrong.
//
//go:linkname before ethos/pkg/entry.before
func before(args, env []string) (status int, over bool) {
	name, argv, ok := Plain(args)
	if !ok {
		return 0, false
	}
	sent = buffer.Send(env, name, argv)
	return 0, sent != nil && sent.Succeeds(patience)
}

// Take returns the connection on which the command was requested, the first
// time; else nil.
func Take() *dial.Sent {
	s := sent
	sent = nil
	return s
}
