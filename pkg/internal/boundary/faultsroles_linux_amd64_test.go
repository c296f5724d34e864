package boundary

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/internal/faultinject"
)

// The parts of a run whose calls are made to fail.
const (
	partEntry      = "entry point" // the program until its Go runtime starts
	partBetween    = "process in between"
	partInit       = "preforked init"
	partCommand    = "command"
	partSupervisor = "supervisor" // the program from when it delivers the calls to init
)

// Parts of a run that are only told apart from those.
const (
	partStarted     = "started" // by the helper, and not yet the program
	partProgram     = "program"
	partLate        = "late init" // cloned by the Go program
	partLateCommand = "command of a late init"
	partOther       = "other"
)

// faultRoles tells the parts of a run by the released program apart.
type faultRoles struct {
	helper, program, init, late, command int // 0: there is none yet

	threads int    // calls that set the thread's memory: the first is the entry point's
	limits  int    // calls that read the limit on descriptors: the first is the Go runtime's
	ran     bool   // the command was executed, or was about to be
	path    string // that the call which failed is about, if it is about one
	parts   map[uint32]string
}

func (r *faultRoles) Begin(helper int) { *r = faultRoles{helper: helper, parts: map[uint32]string{}} }

func (r *faultRoles) Fails(n *faultinject.Notification) { r.path = n.Path() }

func (r *faultRoles) Of(n *faultinject.Notification) string {
	part, known := r.parts[n.TID]
	if !known {
		part = r.part(n)
		r.parts[n.TID] = part
	}
	switch {
	case part == partStarted && n.Nr == unix.SYS_EXECVE:
		r.parts[n.TID], r.program = partProgram, int(n.TID)
	case part == partProgram:
		part = r.ofProgram(n)
	case n.Nr == unix.SYS_EXECVE && (part == partCommand || part == partLateCommand):
		r.ran = true
		if part == partCommand {
			return part
		}
	}
	switch {
	case r.ran || n.Nr == unix.SYS_CLOSE: // it frees the descriptor whatever it answers: close(2)
		return ""
	case part == partInit && (n.Nr == unix.SYS_PPOLL || n.Nr == unix.SYS_WAIT4 || n.Nr == unix.SYS_READ || n.Nr == unix.SYS_KILL): // it has nothing to set up any more
		return ""
	case part == partEntry || part == partBetween || part == partInit || part == partCommand || part == partSupervisor:
		return part
	}
	return ""
}

// part returns the part of a thread that makes its first call. The process in
// between first asks for its processor. Init has no memory of a Go runtime if it was
// preforked. The first process that an init makes is the command.
func (r *faultRoles) part(n *faultinject.Notification) string {
	p := faultinject.ProcessOf(n.TID)
	switch {
	case p.PID == 0:
	case p.PID == r.program:
		return partProgram
	case p.Parent == r.helper:
		return partStarted
	case p.Parent == r.program && n.Nr == unix.SYS_GETCPU:
		return partBetween
	case p.Parent == r.program && p.Addresses<<10 < preforkedMost:
		r.init = p.PID
		return partInit
	case p.Parent == r.program:
		r.late = p.PID
		return partLate
	case r.command != 0:
	case p.Parent == r.init && r.init != 0:
		r.command = p.PID
		return partCommand
	case p.Parent == r.late && r.late != 0:
		r.command = p.PID
		return partLateCommand
	}
	return partOther
}

// ofProgram returns the part of the program that makes a call, partOther for
// what is of no interest. The Go runtime sets the memory of its first thread when
// it starts, and then reads the limit on descriptors. The delivery begins with
// the same.
func (r *faultRoles) ofProgram(n *faultinject.Notification) string {
	switch {
	case n.Nr == unix.SYS_ARCH_PRCTL:
		r.threads++
	case n.Nr == unix.SYS_PRLIMIT64 && n.Args[1] == unix.RLIMIT_NOFILE && n.Args[2] == 0:
		r.limits++
	}
	switch {
	case r.threads < 2:
		return partEntry
	case r.limits < 2 || n.OfRuntime() || n.Nr == unix.SYS_RT_SIGACTION && n.Args[1] != 0:
		return partOther
	}
	return partSupervisor
}
