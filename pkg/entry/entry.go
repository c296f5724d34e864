package entry

import (
	"os"
	"syscall"
	_ "unsafe" // for go:linkname
)

// before is what the program does first, with its arguments and environment. It
// reports whether that was all, and the status. The program's package early
// defines it, because the linker needs to know it: a value of a variable would
// not be set before the runtime starts.
//
//go:linkname before
func before(args, env []string) (status int, over bool)

// tried may be set before the Go runtime starts, so its initial value is zero.
var tried bool

// BeforeRuntime reports, when before is called, whether the Go runtime has yet to
// start. Otherwise only the other packages have yet to be initialised.
func BeforeRuntime() bool { return tried }

func init() {
	if tried {
		return
	}
	if status, over := before(os.Args, syscall.Environ()); over {
		os.Exit(status)
	}
}
