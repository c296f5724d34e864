package control

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/kernel/notify"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/view"
)

// Control is one part of the boundary, for one run. It implements those of the interfaces
// below that it needs. They are listed in the order of a run's life.
type Control interface{ Name() string }

// A Planner has a line in the evidence. asked is what the plan asks of the control, and
// wanted whether it asks for it at all.
type Planner interface {
	Plan() (asked string, wanted bool)
}

// A Preparer finds out what this machine can enforce of the plan, and acquires what that
// needs. An error is a [*plan.Refusal].
type Preparer interface {
	Prepare(ctx context.Context) error
}

// A Stepper adds its system calls to the program. It is called once for each phase.
type Stepper interface {
	Steps(at Phase, p *Program)
}

// A Receiver accepts a descriptor that the child hands over, and reports whether it is its
// own.
type Receiver interface {
	Receive(what, fd int) bool
}

// A Scanner scans the file system while the child sets itself up. It returns before the
// command starts.
type Scanner interface {
	Scan(ctx context.Context)
}

// A PlaceVerifier compares what init has built, as the waiting process pid sees it, with
// the plan. It asks the kernel from outside.
type PlaceVerifier interface {
	VerifyPlace(pid int) error
}

// A Verifier compares the state of the waiting command with the plan.
type Verifier interface {
	Verify(s Status) error
}

// A Beginner acts after everything has been verified and before the command's first
// instruction. An error is a [*plan.Refusal].
type Beginner interface {
	Begin(pid int) error
}

// A Runner starts something that lasts while the command runs.
type Runner interface {
	Run(p *steps.Process)
}

// A Watcher is called when a descriptor that the process listens to is readable, and at
// times that it sets. It may end the run.
type Watcher interface {
	// Next returns when Tend is to be called next; the zero time means never.
	Next() time.Time
	// Tend is called when the descriptor is readable or that time has come. A non-nil
	// result ends the run.
	Tend() *Ending
}

// A Rechecker is called when the mount table has changed while the command runs.
type Rechecker interface {
	Recheck() *Ending
}

// A Jobber is called when a signal has stopped the command.
type Jobber interface {
	Stopped(sig syscall.Signal, p *steps.Process)
}

// An Ender is called when the command and everything that it started have ended, or if the
// command never started.
type Ender interface{ End() }

// A Finisher examines what the command has left.
type Finisher interface {
	Finish(ctx context.Context)
}

// A Resident acts while no command of a session runs.
type Resident interface {
	// Look examines what the commands have left so far. idle means that none of their
	// processes is alive: what changes from now on, until Wake, is not theirs.
	Look(ctx context.Context, idle bool) []record.Denial
	// Wake is called before the next command after an idle time. An error is a
	// [*plan.Refusal]: the session no longer matches the file system.
	Wake(ctx context.Context) error
}

// An Expecter is told that a command will probably be requested within some milliseconds, and
// can begin what Wake needs. It may be called while Look and Wake are.
type Expecter interface {
	Expect(ctx context.Context)
}

// A Rester has something to do after a Look that found nobody alive, for which nobody should
// have to wait. It may be called while Expect is.
type Rester interface{ Rest() }

// expectLimit is how long Wake may rely on what Expect has found. What the user changes
// meanwhile counts as changed while the command ran.
const expectLimit = 20 * time.Millisecond

// An Overseer observes each command of a session.
type Overseer interface {
	// Oversee is called before a command's first instruction.
	Oversee(pid int)
	// Overseen is called once, when the command has ended. It returns what the command
	// asked for and was denied.
	Overseen(pid int) []record.Denial
}

// A Publisher publishes ports of a running session. An error is a [*plan.Refusal].
type Publisher interface {
	Publish(p plan.Published) error
}

// A Clearer removes what the run created on the host. Nothing is alive inside, but init may
// not have been reaped yet.
type Clearer interface{ Clear() }

// A Closer releases what was acquired. Init has been reaped.
type Closer interface{ Close() }

// A Reporter changes its line of the evidence. It is called before the state is verified as
// well as after Close, and states what is known then.
type Reporter interface {
	Report(c record.Control) record.Control
}

// A Witness adds to the evidence outside its line. enforced says that its line is
// [Enforced].
type Witness interface {
	Evidence(e *record.Sandbox, enforced bool)
}

// A Meter measures the resource usage of the run better than getrusage(2) does.
type Meter interface {
	Measure(u record.Usage) record.Usage
}

// A Killer returns, as a status of a record, why the command was killed; "" if this control
// did not kill it.
type Killer interface{ Killed() string }

// A Fallback returns another plan for a machine that refused a run because of err, or nil
// if it has none.
type Fallback interface {
	Instead(err error) *plan.Plan
}

// A Hinter says how to get its control where it is required and not in full force.
type Hinter interface{ Hint() string }

// Ending describes why a control ends the run.
type Ending struct {
	Status string // of the outcome
	Layer  string // the layer of the denial; "" if nothing was denied
	Why    string // the start of the reason in the evidence
	Reason string
}

// Job is one run of a plan: what its controls need to know about it and about each other.
type Job struct {
	Plan     *plan.Plan
	IO       IO
	Mounts   []mount.Mount      // the plan's, with the upper directories of this run
	Left     []plan.Note        // what had to be left out
	Notes    []*steps.StepError // errnos that steps tolerated
	Streams  [3]int             // the descriptors that become 0, 1 and 2 of the command
	Verified bool               // the state read back is that of the plan
	Opened   error              // how the boundary changed while the command ran
	Stop     func()             // ends the run
	Failed   bool               // the command did not end with status 0
	Met      netns.Unmet        // failed connections and datagrams, if it failed
	Flat     bool               // without namespaces
	Scratch  string             // the command's private directory if Flat
	Wrapped  bool               // another program makes the namespaces and the root
	Wrapper  string             // that program
	Lacks    []string           // how its mounts differ from those of the plan
	HostUser bool               // it makes no user namespace
	Handed   []seccomp.Program  // filters that it loads
	Spawns   bool               // a session: its process clones commands instead of calling execve

	machine    *machine
	marks      atomic.Uint64   // given to commands of a session
	View       *view.View      // where the command writes; nil if it writes to the host's files
	Writes     *record.Writes  // what it has changed there, for the evidence
	Changes    []view.Change   // the complete list of these changes
	InCgroup   bool            // its own cgroup limits memory and processes
	Tree       *cgroup.Tree    // of a session: that cgroup, with leaves for its commands
	NoCgroup   error           // why there is none
	Segments   *os.File        // the list of System V segments inside; nil if nothing watches them
	Watch      notify.Observer // observes the calls that take names; nil if nothing does
	Calls      []string        // the calls that it observes
	Watched    string          // the result of the observation, after its end
	ByLandlock bool            // Landlock controls connections to socket files
	Filters    int             // system call filters that the command must have
	// CommandFilters are loaded by each command of a session in addition.
	CommandFilters []filter
	Uncovers       bool        // init unmounts the writable trees when it cleans up
	Alone          func() bool // reports that no other run of the work space is in progress and none can start until Clear; nothing may be alive inside; may be nil
	Quarantined    *quarantine.Session
}

// Phase is a part of the set-up. The calls of a program run phase by phase and, within a
// phase, in the order of [New].
type Phase int

const (
	AtClone    Phase = iota // flags of the clone
	InitStarts              // init, before anything else
	InitCgroup              // init, inside the cgroup of the run
	InitUser                // init has no mapped ids yet
	InitHost                // the host's file tree is still visible
	InitRoot                // the command's root is being built
	InitInside              // the command's root is the root
	Session                 // the command's process: from the most permissive call to the most restrictive
	Streams
	Place
	Limits
	Privileges
	Access
	Restored // the signal state is the caller's again
	Filters
	Finalize // init gives up what it no longer needs
	Phases   // the number of phases
)

// Program is a plan as system calls.
type Program struct {
	steps.Program
	Slots steps.Slots
	Trees map[string]steps.Slot // a descriptor of each mount, by its target
}

// Line returns a control's line in the evidence: what was requested, and whether it is
// known to have been in force. ok is false if the control has no line.
func Line(c Control, verified bool) (line record.Control, ok bool) {
	p, ok := c.(Planner)
	if !ok {
		return record.Control{}, false
	}
	asked, wanted := p.Plan()
	line = record.Control{Name: c.Name(), Requested: asked, State: Absent, Reason: "not verified: nothing ran"}
	switch {
	case !wanted:
		line.State, line.Requested, line.Reason = NotWanted, "", ""
	case verified:
		line.State, line.Enforced, line.Reason = Enforced, asked, ""
	}
	if r, ok := c.(Reporter); ok {
		line = r.Report(line)
	}
	return line, true
}

// degrade marks a line as degraded if the given call was refused and tolerated. means
// states the consequence.
func (j *Job) degrade(c record.Control, call, means string) record.Control {
	for _, n := range j.Notes {
		if n.Step.Call == call && c.State == Enforced {
			c.State, c.Reason = Degraded, means+": "+n.Error()
		}
	}
	return c
}

// noteOn returns the error of a tolerated step on an object, or nil.
func (j *Job) noteOn(object string) error {
	for _, n := range j.Notes {
		if n.Step.Object == object {
			return n
		}
	}
	return nil
}

// step makes a system call of a control.
func step(stage, call string, nr uintptr, object string, args ...steps.Arg) steps.Step {
	s := steps.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}

func prctl(stage, object string, args ...steps.Arg) steps.Step {
	return step(stage, "prctl", unix.SYS_PRCTL, object, args...)
}

// The descriptors that the child hands over.
const (
	HandedSegments = iota + 1 // /proc/sysvipc/shm of its IPC namespace
	HandedListener            // the listener of the seccomp user notification filter
	HandedSocket4             // an IPv4 socket, to be connected from outside
	HandedSocket6             // an IPv6 socket
	HandedSigning             // the socket of git's signer
	HandedDoors               // the first socket of egress; the others follow
)

// fallbacks returns the ways to make a mount that the kernel refused.
func (j *Job) fallbacks(target string) []string {
	var why []string
	for _, n := range j.Notes {
		if n.Step.Object == target && n.Step.Stage == "mount" {
			why = append(why, fmt.Sprintf("%s: %v", n.Step.Call, n.Errno))
		}
	}
	return why
}

// capset sets the effective, permitted and inheritable sets, for capabilities below 32.
func capset(stage string, effective, permitted, inheritable uint32) steps.Step {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{{Effective: effective, Permitted: permitted, Inheritable: inheritable}}
	return step(stage, "capset", unix.SYS_CAPSET, "", steps.Ptr(header), steps.Ptr(data))
}

const sysAdmin = 1 << unix.CAP_SYS_ADMIN

// maxFindings bounds the findings in the evidence, because the command chooses their names.
const maxFindings = 50

// maxShown bounds the length of a name in the evidence, in bytes, because the command may
// have chosen it.
const maxShown = 300

// shown returns a text as one printable line of bounded length.
func shown(text string) string {
	text = printable.Line(text)
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}
