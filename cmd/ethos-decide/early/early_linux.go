package early

import (
	_ "unsafe" // for go:linkname

	_ "ethos/pkg/entry" // calls before
	"ethos/pkg/session/dial"
)

// buffer may be used before the Go runtime starts, so it is zero.
var buffer dial.Buffer

// before has a session's server do what this program would do.
//
//go:linkname before ethos/pkg/entry.before
func before(args, env []string) (status int, over bool) {
	if !Plain(args) {
		return 0, false
	}
	return buffer.Do(env, program, args[1:], args[1] == "--reply")
}
