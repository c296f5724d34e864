package timerslack

import (
	"runtime"
	"syscall"
)

// given is the slack that this program was started with, in nanoseconds. It is 0
// unless [Raise] has set another one. It may be set before the Go runtime starts.
var given uintptr

// Start calls start, which starts a process, in a thread with the slack that this
// program was started with.
func Start(start func() error) error {
	if given == 0 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	Restore()
	return start()
}

// Exec replaces this program by another one, which has the slack that this one was
// started with: execve(2). It returns only if that fails. It does not lock the
// thread, for which the runtime would start another one first: should the goroutine
// change threads just now, the program may have more slack.
func Exec(path string, argv, environ []string) error {
	Restore()
	return syscall.Exec(path, argv, environ)
}
