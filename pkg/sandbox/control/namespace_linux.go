package control

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/plan"
)

// namespace is what all controls that are a namespace share: namespaces(7). One clone(2) makes
// all of them, so that init is never in some of them and not yet in others.
type namespace struct {
	*Job
	defaults
	name string // of the control
	kind string // in a plan
	link string // in /proc/PID/ns: namespaces(7)
	flag uint64 // of clone(2)
}

func newNamespace(j *Job, name, kind, link string, flag uint64) namespace {
	return namespace{Job: j, name: name, kind: kind, link: link, flag: flag}
}

func (n *namespace) Name() string { return n.name }

func (n *namespace) Requested() (string, bool) {
	return "a " + n.kind + " namespace of its own", slices.Contains(n.Job.Plan.Namespaces, n.kind)
}

func (n *namespace) Steps(at Phase, p *Program) {
	if at == AtClone && slices.Contains(n.Job.Plan.Namespaces, n.kind) {
		p.CloneFlags |= n.flag
	}
}

// VerifyPlace checks that the process is in another namespace than this process. Two
// processes share a namespace if their links in /proc lead to the same file: device and inode
// are equal, namespaces(7). It asks the kernel about the waiting process, and relies on
// nothing that the process says.
func (n *namespace) VerifyPlace(pid int) error {
	if !slices.Contains(n.Job.Plan.Namespaces, n.kind) {
		return nil
	}
	var own, its unix.Stat_t
	if err := errors.Join(stat("/proc/self/ns/"+n.link, &own), stat("/proc/"+strconv.Itoa(pid)+"/ns/"+n.link, &its)); err != nil {
		return Unreadable(err)
	}
	if own.Dev == its.Dev && own.Ino == its.Ino {
		return fmt.Errorf("%s namespace: it is the same as that of this process", n.kind)
	}
	return nil
}

func stat(path string, to *unix.Stat_t) error {
	if err := unix.Stat(path, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Unreadable returns the refusal for kernel state that cannot be read.
func Unreadable(err error) error {
	return &plan.Refusal{Code: plan.CodeVerify, Err: err, Hint: "proc(5) must be mounted and readable for this process"}
}
