package notify

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/landlock"
)

// held is a thread under the command's Landlock rules for TCP. The judge
// connects for the command, and the kernel checks the domain of the thread that
// connects: without these rules, a command could have the judge connect to a
// port that is refused to itself. It is not the judge's own thread, because a
// process in a domain may not take a descriptor from a process outside it
// (hook_ptrace_access_check in security/landlock/task.c).
type held struct {
	calls chan call
	ready chan error // how the thread was confined
}

type call struct {
	run  func() error
	done chan error
}

// newHeld starts the thread, which ends with [held.close], because it cannot
// regain the privileges that it dropped. It returns nil if the command has no
// such rules either.
func newHeld(ports []uint16) *held {
	kernel, err := landlock.Probe()
	if err != nil {
		return nil
	}
	q := landlock.Request{Net: landlock.ConnectTCP}
	for _, port := range ports {
		q.Ports = append(q.Ports, landlock.PortRule{Port: port, Access: landlock.ConnectTCP})
	}
	rules, _ := landlock.Build(kernel.ABI, q)
	if rules.Empty() {
		return nil
	}
	h := &held{make(chan call), make(chan error, 1)}
	go h.serve(rules)
	return h
}

// confined waits until the thread is under its rules.
func (h *held) confined() error {
	if h == nil {
		return nil
	}
	return <-h.ready
}

// serve runs calls until the channel is closed. It never unlocks the thread,
// which the runtime therefore ends with the goroutine: runtime.LockOSThread.
//
// An unlocked thread would return to the scheduler and run other goroutines of
// this process without capabilities and in the Landlock domain.
func (h *held) serve(rules landlock.Ruleset) {
	runtime.LockOSThread()
	err := confineTo(rules)
	h.ready <- err
	if err != nil {
		return
	}
	for c := range h.calls {
		c.done <- c.run()
	}
}

// confineTo applies the rules to the calling thread. Without no_new_privs,
// landlock_restrict_self(2) fails with EPERM, because the thread has dropped
// CAP_SYS_ADMIN. Both are attributes of one thread, so nothing else in this
// process is confined.
func confineTo(rules landlock.Ruleset) error {
	if err := dropPrivileges(0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("connect check: no_new_privs: %w", err)
	}
	fd, err := rules.Create()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); e != 0 {
		return fmt.Errorf("connect check: landlock_restrict_self: %w", e)
	}
	return nil
}

// do runs a call on the thread, or on the calling thread if h is nil. run must
// not block: the judge waits for it.
func (h *held) do(run func() error) error {
	if h == nil {
		return run()
	}
	done := make(chan error)
	h.calls <- call{run, done}
	return <-done
}

// close ends the thread; nil has none.
func (h *held) close() {
	if h != nil {
		close(h.calls)
	}
}
