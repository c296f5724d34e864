package control

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/landlock"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// subreaper keeps control of the processes of a command without a PID namespace. A process
// that loses its parent becomes a child of init, which kills its children until none is
// left: prctl(2), PR_SET_CHILD_SUBREAPER. A process cannot leave this tree by setsid(2) or by
// forking twice.
type subreaper struct {
	*Job
	defaults
	children steps.Slot
}

func (c *subreaper) Name() string { return "pid" }

func (c *subreaper) Requested() (string, bool) { return "a PID namespace of its own", true }

// Steps make init die with its parent, and the command with init.
func (c *subreaper) Steps(at Phase, p *Program) {
	const list = "/proc/thread-self/children"
	switch at {
	case InitStarts:
		c.children = p.Slots.New()
		open := step("init", "openat", unix.SYS_OPENAT, list, steps.Int(unix.AT_FDCWD), steps.Str(list), steps.Int(unix.O_RDONLY|unix.O_CLOEXEC))
		open.Save = c.children
		p.Subreaper, p.Keep = c.children, append(p.Keep, c.children)
		p.Init = append(p.Init,
			prctl("init", "PR_SET_CHILD_SUBREAPER", steps.Int(unix.PR_SET_CHILD_SUBREAPER), steps.Int(1), steps.Int(0), steps.Int(0), steps.Int(0)),
			open,
			prctl("init", "PR_SET_PDEATHSIG", steps.Int(unix.PR_SET_PDEATHSIG), steps.Int(steps.ParentDied)),
			prctl("init", "PR_SET_NAME", steps.Int(unix.PR_SET_NAME), steps.Str(steps.InitName)),
			step("init", "setpgid", unix.SYS_SETPGID, "", steps.Int(0), steps.Int(0)))
	case Session:
		p.Command = append(p.Command, prctl("init", "PR_SET_PDEATHSIG", steps.Int(unix.PR_SET_PDEATHSIG), steps.Int(unix.SIGKILL)))
	}
}

// Verify checks that the command's parent is init, that init is a child of this process,
// and that the command's ids are the caller's.
func (c *subreaper) Verify(s Status) error {
	parent, err := strconv.Atoi(s.field("PPid"))
	if err != nil || parent <= 1 {
		return fmt.Errorf("PPid is %q, not that of init", s.field("PPid"))
	}
	init, err := ReadStatus(parent)
	if err != nil {
		return err
	}
	if got := init.field("PPid"); got != strconv.Itoa(syscall.Getpid()) {
		return fmt.Errorf("PPid of init is %q, not this process", got)
	}
	for name, id := range map[string]int{"Uid": c.machine.uid, "Gid": c.machine.gid} {
		for _, v := range strings.Fields(s.field(name)) {
			if v != strconv.Itoa(id) {
				return fmt.Errorf("%s is %s, not %d", name, s.field(name), id)
			}
		}
	}
	return nil
}

func (c *subreaper) Report(line record.Control) record.Control {
	const held, numbers = "all that it starts ends with it", "it shares the process ids of the host"
	if line.State != Enforced {
		return line
	}
	if c.Job.Plan.Backend == plan.None {
		line.State, line.Enforced, line.Reason = Absent, held, "not isolated: the backend is none"
		return line
	}
	line.State, line.Enforced, line.Reason = Degraded, held+"; no process outside is traced or signalled", numbers
	if kernel, err := landlock.Probe(); err != nil || kernel.ABI < signalABI {
		line.Enforced, line.Reason = held+"; no process outside is traced", numbers+", and it can signal the processes of its user one by one, init among them: Landlock restricts signals from ABI 6 on"
	}
	return line
}

// signalABI is the first Landlock ABI that restricts signals, Linux 6.12.
const signalABI = 6

func (c *subreaper) Hint() string { return "omit --backend: the native backend has it" }
