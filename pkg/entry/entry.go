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

// growStack has a frame of 64 KiB that it does not touch. The runtime makes the
// stack of the main goroutine large enough for it while there is next to nothing on
// it to copy; otherwise it doubles and copies the stack each time that a deeper call
// needs more.
func growStack()

func init() {
	growStack()
	if tried {
		return
	}
	if status, over := before(os.Args, syscall.Environ()); over {
		os.Exit(status)
	}
}
