package sandbox

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/notify"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
)

// sockets is how connect(2) to a socket file is held.
type sockets struct {
	landlock bool // by Landlock's right, from ABI 9
	notified bool // by seccomp user notification
	program  seccomp.Program
	listener int // what the filter is answered by, 0 before it was handed over
	judge    *notify.Judge
	err      error // why there is no judge
}

// prepareSockets chooses the way. Without a network namespace of its own the command's sockets cannot be told from the host's, so only Landlock can.
func (l *layers) prepareSockets(p *Plan) error {
	l.sockets.landlock = landlock.FS(l.landlock.Attr.HandledAccessFS)&landlock.ResolveUnix != 0
	if l.sockets.landlock || p.Network == "host" {
		return nil
	}
	arch, err := seccomp.Native()
	if err != nil {
		return &Refusal{Code: CodeRequire, Err: err, Hint: "amd64 and arm64 are supported"}
	}
	l.sockets.notified = true
	l.sockets.program, err = notify.Filter().Compile(arch)
	return err
}

// steps install the filter and hand its listener over: seccomp(2), SECCOMP_FILTER_FLAG_NEW_LISTENER. There can be one listener for a process: EBUSY where a container engine
// has it.
func (s *sockets) steps(slots *steps.Slots) []steps.Step {
	if !s.notified {
		return nil
	}
	listener := slots.New()
	install := step("seccomp", "seccomp", unix.SYS_SECCOMP, notifying, steps.Int(seccomp.SetModeFilter), steps.Int(seccomp.FlagNewListener), steps.Ptr(s.program.Fprog()))
	install.Save, install.Tolerate, install.Skip = listener, []syscall.Errno{syscall.EBUSY, syscall.EINVAL}, 1
	return []steps.Step{install, steps.Hand(handedListener, listener)}
}

const notifying = "connect" // the step's object

// installed is how many filters this makes.
func (s *sockets) installed() int {
	if s.listener > 0 {
		return 1
	}
	return 0
}

// startJudge begins to answer, before the command's first instruction.
func (r *run) startJudge() {
	s := &r.layers.sockets
	if s.listener == 0 {
		return
	}
	s.judge, s.err = notify.Start(notify.Options{Listener: s.listener, PID: r.seen.pid, Declared: r.plan.Sockets, DenyTCP: r.plan.Network == "none"})
	if s.err != nil {
		go notify.Pass(s.listener)
	}
	s.listener = -1
}

func (s *sockets) close() {
	if s.judge != nil {
		s.judge.Close()
	}
	if s.listener > 0 {
		unix.Close(s.listener)
	}
}

// socketControl: how it is held, or what is open.
func (r *run) socketControl() record.Control {
	s := &r.layers.sockets
	held := r.inForce() && (s.judge != nil || s.landlock)
	c := r.control(ControlSockets, "connect(2) to socket files", held, s.notified || s.landlock)
	switch {
	case s.landlock && held:
		c.Enforced = "Landlock"
	case held:
		c.Enforced = "seccomp user notification"
	case s.notified && r.inForce():
		c.State, c.Enforced, c.Reason = stateDegraded, "sockets that were there when the run began are hidden", "nothing is asked about the others"
		if why := errors.Join(s.err, r.noteOn(notifying)); why != nil {
			c.Reason = why.Error()
		}
	}
	return c
}

// noteOn is what a tolerated step about an object met.
func (r *run) noteOn(object string) error {
	for _, n := range r.notes {
		if n.Step.Object == object {
			return n
		}
	}
	return nil
}
