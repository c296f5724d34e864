package steps

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Program describes everything that happens between the clone and the command's
// first instruction.
type Program struct {
	CloneFlags uint64 // the namespaces; CLONE_NEWPID is added unless Subreaper is set
	// Launcher, if set, is another program that makes the namespaces.
	// CloneFlags are then ignored, and init is not the first process in its
	// PID namespace: see [Inside].
	Launcher *Launcher
	// Subreaper is a descriptor of /proc/thread-self/children, for a child
	// without a PID namespace. Init is then not PID 1, but the subreaper of
	// its descendants; an earlier step must make it that (prctl(2),
	// PR_SET_CHILD_SUBREAPER). 0 means a PID namespace. It must be in Keep.
	Subreaper Slot
	// Maps, if set, are written by the parent, because they contain further
	// ids than its own. [Mapped] must be among the steps of Init.
	Maps     *Maps
	CgroupFD int    // descriptor of the cgroup v2 directory in which to start (CLONE_INTO_CGROUP, Linux 5.7); 0 for none
	Init     []Step // run by PID 1 before the command is cloned
	Command  []Step // run by PID 2; the last ones are its execve
	Spawns   bool   // PID 2 does not call execve but clones commands: [Process.Spawn]
	Finalize []Step // run by PID 1 after the command is cloned, to give up what it no longer needs
	// Cleanup is run by PID 1 if it has to end before the command has:
	// because its parent died or asked for it, or because a step failed. If
	// the command has ended, the parent cleans up. If init itself is
	// killed, Cleanup does not run.
	Cleanup []Step
	Keep    []Slot // descriptors that Cleanup needs; at most 250
	// Pass lists the descriptors of this process that the calls name, or that
	// the command is to have under the same numbers. A clone has all of them;
	// a process that has no copy of this one gets these, at most 252.
	Pass []int
}

// Part names one of the arrays of a Program.
type Part int32

const (
	PartInit Part = iota + 1
	PartCommand
	PartFinalize
	PartCleanup
	partDelivery // what a preforked init does to have the others
)

// StepError is the failure of a step.
type StepError struct {
	Step  Step
	Part  Part
	Errno syscall.Errno
}

func (e *StepError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Step.Stage, e.Step.Call)
	if e.Step.Object != "" {
		fmt.Fprintf(&b, " %s", e.Step.Object)
	}
	fmt.Fprintf(&b, ": %v", e.Errno)
	return b.String()
}

func (e *StepError) Unwrap() error { return e.Errno }

// Maps are the id maps of a user namespace: user_namespaces(7). Writing ids
// other than one's own needs CAP_SETUID and CAP_SETGID in the parent namespace,
// which no process inside has.
type Maps struct{ UID, GID string }

// Mapped returns the step in which init waits until [Program.Maps] have been
// written. Until then every id in the namespace is the overflow id:
// user_namespaces(7).
func Mapped() Step {
	answer := make([]byte, 1)
	return Step{Stage: mapStage, Call: "read", Nr: unix.SYS_READ, Args: [6]Arg{From(Channel), Buf(answer), Int(1)}, Want: 1}
}

const mapStage = "user_namespace"

// write writes the maps. It denies setgroups(2), so that no process inside can
// drop a group. The order is the kernel's: setgroups can be denied only before
// gid_map is written. Each map is written once, with one write(2), else EPERM
// or EINVAL: user_namespaces(7).
func (m *Maps) write(pid int) error {
	for _, f := range [...]struct{ name, text string }{{"setgroups", "deny"}, {"uid_map", m.UID}, {"gid_map", m.GID}} {
		path := "/proc/" + strconv.Itoa(pid) + "/" + f.name
		fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			_, err = unix.Write(fd, []byte(f.text))
			unix.Close(fd)
		}
		var errno syscall.Errno
		if errors.As(err, &errno) {
			return &StepError{Step: Step{Stage: mapStage, Call: "write", Object: "/proc/self/" + f.name}, Part: PartInit, Errno: errno}
		}
	}
	return nil
}

// Filter passes the address of the program of a system call filter: seccomp(2).
func Filter(p *unix.SockFprog) Arg { return Arg{value: isFilter, ptr: unsafe.Pointer(p)} }

// Begun returns the first step of the command's process, which reports that the
// process exists; [Begins] is the event.
func Begun() Step { return report(kindBegun) }

func report(kind int32) Step {
	m := &message{kind: kind}
	return Step{Stage: "handshake", Call: "write", Nr: unix.SYS_WRITE, Args: [6]Arg{From(Channel), Ptr(m), Int(messageSize)}, Want: int32(messageSize)}
}

// Ready returns the two steps with which the command reports that it is
// confined and waits for [Process.Go]. They come right before its execve. The
// second step fails with EPROTO if the channel is closed (read(2) returns 0): a
// command without its owner does not begin.
func Ready() []Step {
	answer := make([]byte, 1)
	return []Step{
		report(kindReady),
		{Stage: "handshake", Call: "read", Nr: unix.SYS_READ, Args: [6]Arg{From(Channel), Buf(answer), Int(1)}, Want: 1},
	}
}

func (p *Program) part(which Part) []Step {
	switch which {
	case PartInit:
		return p.Init
	case PartCommand:
		return p.Command
	case PartFinalize:
		return p.Finalize
	}
	return p.Cleanup
}

// Numbers of the calls that init makes by itself. In reports they follow the
// last step of the part.
const (
	ownClone = iota
	ownSigmask
	ownSignalfd
	ownCloseRange
)

var ownCalls = [...]string{ownClone: "clone", ownSigmask: "rt_sigprocmask", ownSignalfd: "signalfd4", ownCloseRange: "close_range"}

// Numbers of the calls by which a preforked init receives its program.
const (
	deliveryReceive = iota
	deliveryRenumber
	deliveryMap
	deliveryIgnore
)

var deliveryCalls = [...]Step{
	deliveryReceive:  {Stage: "init", Call: "recvmsg", Object: "the prepared calls"},
	deliveryRenumber: {Stage: "init", Call: "dup3", Object: "the descriptors of the command"},
	deliveryMap:      {Stage: "init", Call: "mmap", Object: "the prepared calls"},
	deliveryIgnore:   {Stage: "init", Call: "rt_sigaction", Object: "the signals that are ignored"},
}

func (p *Program) stepError(which Part, index int, errno syscall.Errno) error {
	if which == partDelivery && index >= 0 && index < len(deliveryCalls) {
		return &StepError{Step: deliveryCalls[index], Part: which, Errno: errno}
	}
	steps := p.part(which)
	if own := index - len(steps); own >= 0 && own < len(ownCalls) {
		return &StepError{Step: Step{Stage: "init", Call: ownCalls[own]}, Part: which, Errno: errno}
	}
	if index < 0 || index > len(steps) {
		return fmt.Errorf("child reported step %d of %d: %w", index, len(steps), errno)
	}
	return &StepError{Step: steps[index], Part: which, Errno: errno}
}
