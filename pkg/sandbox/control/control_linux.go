package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/netns"
	"ethos/pkg/sandbox/kernel/notify"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
	"ethos/pkg/sandbox/quarantine"
	"ethos/pkg/sandbox/view"
)

// New returns the controls of one run, in the order in which they are prepared,
// make their calls and stand in the evidence. They are closed in reverse. One
// that has a line in the evidence is in the list of package plan, too.
func New(j *Job) []Control {
	if j.machine == nil {
		j.machine = thisMachine()
	}
	if j.Flat = j.Plan.Backend != ""; j.Flat {
		return flat(j)
	}
	return []Control{
		newUser(j), &workspace{Job: j}, newMount(j), newPID(j), newIPC(j), newUTS(j), newCgroupNS(j), newNetwork(j), newEgress(j), newPublish(j), &ports{j},
		&privileges{j}, &landlockControl{Job: j}, &seccompControl{Job: j}, &observer{Job: j}, &unixSockets{Job: j},
		newSigning(j), &cgroupControl{Job: j, release: func() {}}, &rlimits{Job: j}, &timeout{Job: j}, &output{j}, &caches{Job: j}, &environment{j},
		&stdio{Job: j}, &terminal{Job: j}, &managedGit{j}, &agentState{j}, &placeholders{Job: j}, newProtectedPaths(j), &gitSettings{Job: j}, &gitQuarantine{Job: j},
	}
}

// flat are those of a run without namespaces. They have the same lines.
func flat(j *Job) []Control {
	landlocked := j.Plan.Backend == plan.Landlock
	lack := func(name, asked string) Control { return &lacking{j, name, asked} }
	where := []Control{&scratch{Job: j}, lack("userns", "a user namespace of its own"), lack(plan.ControlWorkspace, ""), &inPlace{j}, &subreaper{Job: j}}
	limits := []Control{lack(plan.ControlSigning, ""), &cgroupControl{Job: j, release: func() {}}, &rlimits{Job: j}, &timeout{Job: j}, &output{j}, lack("caches", ""), &environment{j}, &stdio{Job: j}, &terminal{Job: j}}
	if !landlocked {
		return slices.Concat(where, []Control{
			lack("ipc", "an IPC namespace of its own"), lack("uts", "a UTS namespace of its own"), lack("cgroupns", "a cgroup namespace of its own"), lack(plan.ControlNetwork, j.Plan.Network),
			lack("egress", ""), lack("publish", ""), lack("ports", ""), lack("privileges", "no capability, no_new_privs"), lack("landlock", "the paths"), lack("seccomp", j.Plan.SeccompText()), lack("unix_sockets", "connect(2) to socket files"),
		}, limits)
	}
	return slices.Concat(where, []Control{
		&filtered{j, "ipc", "an IPC namespace of its own", "no System V IPC and no POSIX message queue"}, lack("uts", "a UTS namespace of its own"), lack("cgroupns", "a cgroup namespace of its own"),
		&filtered{j, plan.ControlNetwork, j.Plan.Network, "no socket but connected pairs"}, lack("egress", ""), lack("publish", ""), &ports{j},
		&privileges{j}, &landlockControl{Job: j}, &seccompControl{Job: j}, &unixSockets{Job: j},
	}, limits, []Control{newProtectedPaths(j), &gitQuarantine{Job: j}})
}

// Control is one part of the boundary, for one run. What it does beside having a name are the interfaces below, in the order of a run's life. A
// control has those that it needs.
type Control interface{ Name() string }

// A Planner has a line in the evidence: what the plan asks of it, and whether it asks at all.
type Planner interface {
	Plan() (asked string, wanted bool)
}

// A Preparer finds out what this machine can hold of the plan, and takes what that needs. An error is a [*plan.Refusal].
type Preparer interface {
	Prepare(ctx context.Context) error
}

// A Stepper adds its kernel calls to the program: it is called once for each phase.
type Stepper interface {
	Steps(at Phase, p *Program)
}

// A Receiver takes a descriptor that the child hands over, if it is its own.
type Receiver interface {
	Receive(what, fd int) bool
}

// A Scanner looks at the file system while the child sets itself up. It returns before the command starts.
type Scanner interface {
	Scan(ctx context.Context)
}

// A PlaceVerifier compares what init has built, as the waiting process pid sees it, with the plan. The kernel is asked from outside.
type PlaceVerifier interface {
	VerifyPlace(pid int) error
}

// A Verifier compares what the waiting command has done to itself with the plan.
type Verifier interface {
	Verify(s Status) error
}

// A Beginner does what must be done before the command's first instruction, when all that it is confined by has been verified. An error is a
// [*plan.Refusal].
type Beginner interface {
	Begin(pid int) error
}

// A Runner does something while the command runs.
type Runner interface {
	Run(p *steps.Process)
}

// A Watcher is asked when a descriptor that the process listens to is readable, and at the times that it names. It may end the run.
type Watcher interface {
	// Next is when it has to be asked; the zero time is never.
	Next() time.Time
	// Tend is called with late when that time has come.
	Tend() *Ending
}

// A Rechecker is asked when the mount table has changed while the command runs.
type Rechecker interface {
	Recheck() *Ending
}

// A Jobber is told when the command was stopped by a signal.
type Jobber interface {
	Stopped(sig syscall.Signal, p *steps.Process)
}

// An Ender is told that the command, and all that it started, has ended, also when it never began.
type Ender interface{ End() }

// A Finisher looks at what the command has left.
type Finisher interface {
	Finish(ctx context.Context)
}

// A Resident minds what happens while no command of a session runs.
type Resident interface {
	// Look looks at what the commands have left so far. idle says that nothing of
	// them is alive: what changes from now on, until Wake, is not theirs.
	Look(ctx context.Context, idle bool) []record.Denial
	// Wake is called before the first command after that. An error is a
	// [*plan.Refusal]: the session does not fit what is there any more.
	Wake(ctx context.Context) error
}

// An Overseer observes the commands of a session one by one.
type Overseer interface {
	// Oversee is called before the first instruction of a command.
	Oversee(pid int)
	// Overseen is called once, when the command has ended: what it asked for and
	// could not have.
	Overseen(pid int) []record.Denial
}

// A Publisher publishes ports of a session while it lasts. An error is a
// [*plan.Refusal].
type Publisher interface {
	Publish(p plan.Published) error
}

// A Clearer takes away what the run made on the host. Nothing is alive inside; init may not have been reaped yet.
type Clearer interface{ Clear() }

// A Closer gives back what was taken. Init has been reaped.
type Closer interface{ Close() }

// A Reporter changes its line of the evidence. Before the state was verified, and after Close, it says what it knows.
type Reporter interface {
	Report(c record.Control) record.Control
}

// A Witness adds to the evidence beside its line. enforced says that its line is [Enforced].
type Witness interface {
	Evidence(e *record.Sandbox, enforced bool)
}

// A Meter measures what the run used better than getrusage(2) does.
type Meter interface {
	Measure(u record.Usage) record.Usage
}

// A Killer tells why the command was killed: a status of a record, "" when it was not by this control.
type Killer interface{ Killed() string }

// A Fallback has another plan for a machine that refused a run because of err, nil when it has none.
type Fallback interface {
	Instead(err error) *plan.Plan
}

// A Hinter knows how its control can be had where it is required and not in full force.
type Hinter interface{ Hint() string }

// Ending is why a control ends the run.
type Ending struct {
	Status string // of the outcome
	Layer  string // that the denial names; "" when nothing was denied
	Why    string // begins the reason in the evidence
	Reason string
}

// Job is one run of a plan: what its controls have to know of it, and of each other.
type Job struct {
	Plan     *plan.Plan
	IO       IO
	Mounts   []mount.Mount      // the plan's, with upper directories that are ours
	Left     []plan.Note        // what had to be left out
	Notes    []*steps.StepError // errnos that steps tolerated
	Streams  [3]int             // what becomes 0, 1 and 2 of the command
	Verified bool               // what was read back is what was planned
	Opened   error              // how the boundary changed while the command ran
	Stop     func()             // ends the run
	Failed   bool               // the command ended otherwise than with status 0
	Met      netns.Unmet        // what its connections and datagrams met, where it failed
	Flat     bool               // without namespaces
	Scratch  string             // the command's private directory there
	Spawns   bool               // a session: its process does not exec, but clones commands

	machine     *machine
	View        *view.View      // where the command writes; nil where it writes to the host's files
	Writes      *record.Writes  // what it has changed there
	Changes     []view.Change   // the same, whole
	InCgroup    bool            // a cgroup of its own bounds memory and processes
	Watch       notify.Observer // sees the calls that take names; nil where nobody does
	Calls       []string        // that it is to see
	Watched     string          // what became of that, when it ended
	ByLandlock  bool            // Landlock holds connecting to socket files
	Filters     int             // system call filters that the command must have
	Uncovers    bool            // init has mounts to take away when it cleans up
	Alone       func() bool     // no other run of the work space is under way, nor can one begin until Clear; nothing may be alive inside. May be nil
	Quarantined *quarantine.Session
}

// Phase is a part of the set-up. The calls of a program run phase by phase, and in a phase in the order of [New].
type Phase int

const (
	AtClone    Phase = iota // flags of the clone
	InitStarts              // init, before anything else
	InitCgroup              // init, in the cgroup of the run
	InitUser                // init has no ids yet
	InitHost                // the host's tree is still there
	InitRoot                // the command's root is built
	InitInside              // the root is the command's
	Session                 // the command's process: from the most permissive call to the most restrictive
	Streams
	Place
	Limits
	Privileges
	Access
	Restored // signals are as the caller had them
	Filters
	Finalize // init gives up what it no longer needs
	Phases   // how many there are
)

// Program is a plan as kernel calls.
type Program struct {
	steps.Program
	Slots steps.Slots
	Trees map[string]steps.Slot // a descriptor of each mount, by its target
}

// The states of a control in the evidence.
const (
	Enforced  = "enforced"
	Degraded  = "degraded"
	Absent    = "absent"
	NotWanted = "not_requested"
)

// Line is a control's line in the evidence: what was asked for, and whether it is known to have been in force.
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

// degrade is a line that is in force but for what a call, refused and tolerated, would have added.
func (j *Job) degrade(c record.Control, call, means string) record.Control {
	for _, n := range j.Notes {
		if n.Step.Call == call && c.State == Enforced {
			c.State, c.Reason = Degraded, means+": "+n.Error()
		}
	}
	return c
}

// noteOn is what a tolerated step about an object met.
func (j *Job) noteOn(object string) error {
	for _, n := range j.Notes {
		if n.Step.Object == object {
			return n
		}
	}
	return nil
}

// step is a kernel call of a control.
func step(stage, call string, nr uintptr, object string, args ...steps.Arg) steps.Step {
	s := steps.Step{Stage: stage, Call: call, Nr: nr, Object: object}
	copy(s.Args[:], args)
	return s
}

func prctl(stage, object string, args ...steps.Arg) steps.Step {
	return step(stage, "prctl", unix.SYS_PRCTL, object, args...)
}

// What a descriptor is that the child hands over.
const (
	HandedSegments = iota + 1 // /proc/sysvipc/shm of its IPC namespace
	HandedListener            // what the filter of connect(2) is answered by
	HandedSocket4             // of IPv4, to be connected from outside
	HandedSocket6             // of IPv6
	HandedSigning             // the socket of git's signer
	HandedDoors               // the first socket of egress; the others follow
)

// fallbacks are the ways to make a mount that the kernel refused.
func (j *Job) fallbacks(target string) []string {
	var why []string
	for _, n := range j.Notes {
		if n.Step.Object == target && n.Step.Stage == "mount" {
			why = append(why, fmt.Sprintf("%s: %v", n.Step.Call, n.Errno))
		}
	}
	return why
}

// capset sets the effective, permitted and inheritable set, of capabilities below 32.
func capset(stage string, effective, permitted, inheritable uint32) steps.Step {
	header := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{{Effective: effective, Permitted: permitted, Inheritable: inheritable}}
	return step(stage, "capset", unix.SYS_CAPSET, "", steps.Ptr(header), steps.Ptr(data))
}

const sysAdmin = 1 << unix.CAP_SYS_ADMIN

// maxFindings bounds what the evidence says of findings: their names are the command's.
const maxFindings = 50

// maxShown bounds what the evidence says of a name: it may be the command's.
const maxShown = 300

// shown is a text of a finding in a bounded line that can be printed.
func shown(text string) string {
	text = printable.Line(text)
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}
