package early

import (
	"os"
	"syscall"
	"time"

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
	tried  bool
	sent   *dial.Sent
)

func init() {
	if tried {
		return
	}
	if name, argv, ok := Plain(os.Args); ok && over(name, argv, syscall.Environ()) {
		os.Exit(0)
	}
}

// over requests a command, and reports whether it is over. If nothing was
// requested, main tries it again and says what is wrong.
func over(name string, argv, env []string) bool {
	sent = buffer.Send(env, name, argv)
	return sent != nil && sent.Succeeds(patience)
}

// Take returns the connection on which the command was requested, the first
// time; else nil.
func Take() *dial.Sent {
	s := sent
	sent = nil
	return s
}
