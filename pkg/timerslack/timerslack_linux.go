package timerslack

import "syscall"

// linux/prctl.h
const (
	prSetTimerSlack = 29
	prGetTimerSlack = 30
)

// raised is the slack of the monitor, in nanoseconds. After a system call that
// blocks, the monitor gives the processor to another goroutine at its next wake, and
// a thread that the runtime started before there was any code to run may wait as
// long before it takes a goroutine from another. So it is short enough for both.
const raised = 200_000

// Raise raises the slack of the thread, and so of those that it will create. It
// needs nothing of the Go runtime. A thread with real-time priority has no slack.
func Raise() {
	now, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prGetTimerSlack, 0, 0)
	if errno != 0 || now == 0 || now >= raised {
		return
	}
	if _, _, errno = syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, raised, 0); errno == 0 {
		given = now
	}
}

// Restore gives the thread the slack that this program was started with. It is for
// goroutines that work beside others, so that their threads soon take work from each
// other, and for a caller that clones a process. Who starts a program uses [Start].
func Restore() {
	if given != 0 {
		syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerSlack, given, 0)
	}
}
