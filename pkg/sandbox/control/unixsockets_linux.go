package control

import (
	"cmp"
	"context"
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/capability"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/notify"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// unixSockets controls connect(2) to socket files: with Landlock's right from ABI 9, else
// with seccomp user notification.
type unixSockets struct {
	*Job
	defaults
	notified bool // seccomp user notification is used
	program  seccomp.Program
	flags    uint32
	listener int // the listener that answers the filter; 0 before it is handed over
	judge    *notify.Judge
	answers  bool  // the judge has begun
	err      error // why it has not
}

func (c *unixSockets) Name() string { return "unix_sockets" }

func (c *unixSockets) Requested() (string, bool) {
	return "connect(2) to socket files", c.notified || c.ByLandlock || c.Job.Plan.NoUnixSockets
}

// Prepare chooses the mechanism. Without a network namespace, the command's sockets cannot
// be told from the host's, so only Landlock can be used.
func (c *unixSockets) Prepare(context.Context) error {
	c.notified = !c.ByLandlock && c.Job.Plan.Network != "host" && !c.Flat
	if !c.notified && len(c.Calls) == 0 {
		return nil
	}
	arch, err := seccomp.Native()
	if err != nil {
		return &plan.Refusal{Code: plan.CodeRequire, Err: err, Hint: "amd64 and arm64 are supported"}
	}
	c.flags = seccomp.FlagNewListener
	if len(c.Calls) > 0 && takesFlags(c.flags|seccomp.FlagWaitKillable) {
		c.flags |= seccomp.FlagWaitKillable // open(2) and similar calls are not interrupted outside either
	}
	profile := notify.Observing(c.Calls...)
	if c.notified {
		profile = notify.Filter(c.kept() != 0, c.Calls...)
	}
	c.program, err = profile.Compile(arch)
	return err
}

// Steps install the filter and hand over its listener: seccomp(2),
// SECCOMP_FILTER_FLAG_NEW_LISTENER. A process can have only one listener; EBUSY means that
// a container engine has it. A profile file may deny the calls that hand the listener over,
// so this comes before it is loaded.
func (c *unixSockets) Steps(at Phase, p *Program) {
	if at != Restored || len(c.program) == 0 {
		return
	}
	listener := p.Slots.New()
	install := step("seccomp", "seccomp", unix.SYS_SECCOMP, notifying, steps.Int(seccomp.SetModeFilter), steps.Int(c.flags), steps.Filter(c.program.Fprog()))
	install.Save, install.Tolerate, install.Skip = listener, []syscall.Errno{syscall.EBUSY, syscall.EINVAL}, 1
	p.Command = append(p.Command, install, steps.Hand(HandedListener, listener))
}

// takesFlags reports whether the kernel knows the flags of a filter: without a program it
// returns EFAULT for known flags, else EINVAL.
func takesFlags(flags uint32) bool {
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, seccomp.SetModeFilter, uintptr(flags), 0)
	return e == unix.EFAULT
}

const notifying = "connect" // the step's object

// Receive accepts the listener, which shows that the filter is installed.
func (c *unixSockets) Receive(what, fd int) bool {
	if what != HandedListener {
		return false
	}
	c.listener = fd
	c.Filters++
	return true
}

// Meanwhile starts the judge's threads.
func (c *unixSockets) Meanwhile(context.Context) {
	if len(c.program) == 0 {
		return
	}
	var o notify.Options
	if c.notified {
		o = notify.Options{Declared: c.Job.Plan.Sockets, HoldTCP: c.Job.Plan.Network == "none", Override: c.kept() != 0}
		if c.Job.Plan.GitSigning != "" {
			o.Inside = []string{plan.SigningSocket}
		}
		if p := c.Job.Plan.Ports; p != nil {
			o.Ports, o.HoldTCP, _ = capability.Ports(p.Connect, false)
		}
	}
	c.judge = notify.New(o)
}

func (c *unixSockets) Begin(pid int) error {
	if c.listener == 0 {
		return nil
	}
	if c.notified {
		c.err = c.judge.Start(c.listener, pid, c.Watch)
	} else {
		c.err = c.judge.Watch(c.listener, c.Watch)
	}
	if c.answers = c.err == nil; !c.answers {
		go notify.Pass(c.listener)
	}
	c.listener = -1
	return nil
}

var errUnanswered = errors.New("the command did not start")

// End stops the judge and keeps what it observed. A call that still waits for an answer fails
// with ENOSYS once the listener is closed: seccomp_unotify(2).
func (c *unixSockets) End() {
	ended := c.judge == nil || c.judge.Close()
	switch {
	case !c.answers:
		c.Watched = "nothing was seen: " + cmp.Or(errors.Join(c.err, c.noteOn(notifying)), errUnanswered).Error()
	case ended:
		c.Watched = Observed
	default:
		c.Watched = watchStuck
	}
	if c.listener > 0 {
		unix.Close(c.listener)
	}
}

// Report states which mechanism controls connections, or what is not controlled.
func (c *unixSockets) Report(line record.Control) record.Control {
	if c.Job.Plan.NoUnixSockets && line.State != NotWanted {
		line.Requested = "no Unix socket but pairs"
		if c.Verified { // the number of filters was verified
			line.State, line.Enforced, line.Reason = Enforced, line.Requested, ""
		}
		return line
	}
	held := c.Verified && (c.answers && c.notified || c.ByLandlock)
	switch {
	case c.ByLandlock && held:
		line.Enforced = "Landlock"
	case held:
		line.Enforced = "seccomp user notification"
	case c.notified && c.Verified:
		line.State, line.Enforced, line.Reason = Degraded, "sockets that existed at the start of the run are hidden", "connections to other sockets are not checked"
		if why := errors.Join(c.err, c.noteOn(notifying)); why != nil {
			line.Reason = why.Error()
		}
	}
	return line
}

func (c *unixSockets) Hint() string {
	return "give it a network of its own (--net none or loopback), where pidfd_getfd(2) is allowed (kernel.yama.ptrace_scope below 3) and no container engine " +
		"has a seccomp listener of its own; or use a kernel with ABI 9 of Landlock"
}
