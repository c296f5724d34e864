package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	own  string // the link of this process
	err  error  // why it is not known
}

func newNamespace(j *Job, name, kind, link string, flag uint64) namespace {
	return namespace{Job: j, name: name, kind: kind, link: link, flag: flag}
}

func (n *namespace) Name() string { return n.name }

func (n *namespace) Requested() (string, bool) {
	return titled(n.kind) + " namespace of its own", n.wanted()
}

// titled returns the kind of a namespace as texts write it, with its article.
func titled(kind string) string {
	switch kind {
	case "ipc":
		return "an IPC"
	case "pid", "uts":
		return "a " + strings.ToUpper(kind)
	}
	return "a " + kind
}

func (n *namespace) wanted() bool { return slices.Contains(n.Job.Plan.Namespaces, n.kind) }

func (n *namespace) Steps(at Phase, p *Program) {
	if at == AtClone && n.wanted() {
		p.CloneFlags |= n.flag
	}
}

// Meanwhile determines the namespace of this process.
func (n *namespace) Meanwhile(context.Context) {
	if n.wanted() {
		n.own, n.err = readLink("/proc/self/ns/" + n.link)
	}
}

// VerifyPlace checks that the process is in another namespace than this process. The content
// of a link in /proc/PID/ns is the type of the namespace and its inode number, which no other
// namespace has while this one exists: namespaces(7). To follow the link would have the kernel
// make an inode. It asks the kernel about the waiting process, and relies on nothing that the
// process says.
func (n *namespace) VerifyPlace(pid int) error {
	if !n.wanted() {
		return nil
	}
	its, err := readLink("/proc/" + strconv.Itoa(pid) + "/ns/" + n.link)
	if err := errors.Join(n.err, err); err != nil {
		return Unreadable(err)
	}
	if its == n.own {
		return fmt.Errorf("%s namespace: it is the same as that of this process", n.kind)
	}
	return nil
}

// readLink returns the content of a link in /proc/PID/ns.
func readLink(path string) (string, error) {
	var content [64]byte
	n, err := unix.Readlink(path, content[:])
	if err == nil && (n == 0 || n == len(content)) {
		err = unix.ENAMETOOLONG
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return string(content[:n]), nil
}

// Unreadable returns the refusal for kernel state that cannot be read.
func Unreadable(err error) error {
	return &plan.Refusal{Code: plan.CodeVerify, Err: err, Hint: "proc(5) must be mounted and readable for this process"}
}
