package sandbox

import (
	"os"
	"sync/atomic"

	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/signing"
)

// shimmed reports whether this program's main function began with [ExecShim].
var shimmed atomic.Bool

// shimCheck is the argument with which this program runs inside to test the boundary.
const shimCheck = "ethos-sandbox-proof"

// ExecShim lets a program that embeds ethos make the boundaries of its commands itself, so
// that [New] needs no other program. Call it first in the main function. The program is
// then started again for each command, with "ethos-sandbox" as argument 0, and in that
// process ExecShim does not return. Whatever the program does before the call, it does in
// each of these processes too, so init functions should be cheap.
func ExecShim() {
	status, inside := Inside(os.Args)
	asks := signing.Asks(os.Args)
	wrapper := len(os.Args) > 1 && os.Args[0] == wrapperName && os.Args[1] == "run"
	if !inside && !asks && !wrapper && (len(os.Args) != 2 || os.Args[1] != shimCheck) {
		shimmed.Store(true)
		return
	}
	if asks {
		status = signing.Inside(os.Args, plan.SigningSocket)
	}
	if wrapper {
		status = shim(os.Args[2:])
	}
	os.Exit(status)
}
