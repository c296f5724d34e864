package sandbox

import (
	"golang.org/x/sys/unix"

	"ethos/pkg/internal/faultinject"
)

// faultRoles tells the calls of a run apart: those of the parent, of init and of the command.
type faultRoles struct {
	helper, init int
	ran          bool           // the command was executed
	late         bool           // when a call failed, the command had been executed
	path         string         // that this call is about, if it is about one
	of           map[int]string // by thread
}

// unseen are the calls that are let through: also those by which the Go runtime takes memory and signals.
var unseen = append(faultinject.Runtime(), unix.SYS_MMAP, unix.SYS_RT_SIGACTION)

func (r *faultRoles) Begin(helper int) { *r = faultRoles{helper: helper, of: map[int]string{}} }

func (r *faultRoles) Fails(n *faultinject.Notification) {
	r.path, r.late = n.Path(), r.ran && n.Nr != unix.SYS_EXECVE
}

func (r *faultRoles) Of(n *faultinject.Notification) string {
	role := r.role(int(n.TID))
	if n.Nr == unix.SYS_EXECVE && role == "command" {
		r.ran = true
	} else if !r.counts(role, n) {
		return ""
	}
	return role
}

// counts reports whether a call is part of setting up, or of what the parent does until the end.
func (r *faultRoles) counts(role string, n *faultinject.Notification) bool {
	switch role {
	case "command":
		return !r.ran
	case "init":
		return n.Nr != unix.SYS_PPOLL && n.Nr != unix.SYS_WAIT4 && n.Nr != unix.SYS_READ && n.Nr != unix.SYS_KILL && !r.ran // it has nothing to set up any more
	case "parent":
		return !n.OfRuntime() && n.Nr != unix.SYS_CLOSE // close(2) frees the descriptor whatever it answers
	}
	return false
}

// role tells what a thread is part of. The first process that the helper makes is init, and the first that init makes is the command.
func (r *faultRoles) role(tid int) string {
	role, ok := r.of[tid]
	if ok {
		return role
	}
	p := faultinject.ProcessOf(uint32(tid))
	switch {
	case p.PID == r.helper:
		role = "parent"
	case p.Parent == r.helper && r.init == 0:
		role, r.init = "init", p.PID
	case p.Parent == r.init && r.init != 0 && !r.has("command"):
		role = "command"
	default:
		role = "other"
	}
	r.of[tid] = role
	return role
}

func (r *faultRoles) has(role string) bool {
	for _, of := range r.of {
		if of == role {
			return true
		}
	}
	return false
}
