package entry

import (
	"syscall"
	"unsafe"

	"ethos/pkg/entry/hugepage"
	"ethos/pkg/entry/nofile"
	"ethos/pkg/timerslack"
)

// entry is the program's entry point, where the kernel starts it: packaging/build
// passes it to the linker (-E). It calls [early] and then starts the Go runtime.
func entry()

var _, _ = entry, early // used by the linker and by entry

// The limits of a command line that is tried before the runtime; a longer one is
// tried after it.
const (
	maxArgs = 512
	maxEnv  = 1024
)

// These hold strings in the memory where the kernel has put them.
var (
	args [maxArgs]string
	env  [maxEnv]string
)

// early runs on the stack that the kernel has made. It returns if the runtime is
// needed, whose threads then have a higher timer slack, which opens no files, and
// whose heap begins with a huge page.
//
// Nothing of the runtime can be used: no memory that is allocated, no goroutine,
// no panic, no package variable that is initialised by code. TestBeforeTheRuntime
// examines what the linker has put in.
func early(stack *int) {
	try(stack)
	timerslack.Raise()
	nofile.Lower()
	hugepage.Advise()
}

// try calls [before] and ends the process if that was all. stack points to the
// number of arguments, which are followed by NULL, the environment, and NULL:
// System V ABI for AMD64, 3.4.1.
func try(stack *int) {
	n := *stack
	if n > maxArgs {
		return
	}
	words := unsafe.Slice((**byte)(unsafe.Add(unsafe.Pointer(stack), unsafe.Sizeof(*stack))), n+1+maxEnv+1)
	for i := range n {
		args[i] = text(words[i])
	}
	given := args[:n]
	words, n = words[n+1:], 0
	for _, at := range words { // never read beyond the NULL
		switch {
		case at == nil:
			tried = true
			if status, over := before(given, env[:n]); over {
				syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(status), 0, 0)
			}
			return
		case n == maxEnv:
			return
		}
		if env[n] = text(at); env[n] != "" { // syscall.Environ omits an empty one
			n++
		}
	}
}

// text is a string that a NUL ends.
func text(at *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(at), n)) != 0 {
		n++
	}
	return unsafe.String(at, n)
}
