package sandbox

import (
	"os"
	"sync/atomic"

	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/signing"
)

// shimmed says that this program's main function began with [ExecShim].
var shimmed atomic.Bool

// shimCheck is the argument of this program when it runs inside, to prove the
// boundary.
const shimCheck = "ethos-sandbox-proof"

// ExecShim belongs first into the main function of a program that embeds ethos: then
// [New] needs no other program, since this one makes the boundaries of its commands.
// It is started again for each, with "ethos-sandbox" as argument 0, and ExecShim
// then does not return. Everything that the program does before it is done by each
// of those processes, too; a package's init functions should be cheap.
func ExecShim() {
	asks := signing.Asks(os.Args)
	wrapper := len(os.Args) > 1 && os.Args[0] == wrapperName && os.Args[1] == "run"
	if !asks && !wrapper && (len(os.Args) != 2 || os.Args[1] != shimCheck) {
		shimmed.Store(true)
		return
	}
	status := 0
	if asks {
		status = signing.Inside(os.Args, plan.SigningSocket)
	}
	if wrapper {
		status = shim(os.Args[2:])
	}
	os.Exit(status)
}
