package control

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
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

// expectLimit is how long Wake may rely on what Expect has found. What the user changes
// meanwhile counts as changed while the command ran.
const expectLimit = 20 * time.Millisecond

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
	changed  atomic.Value       // how the boundary changed while the command ran, if it did: an error's text
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
	Uncovers       bool           // init unmounts the writable trees when it cleans up
	Alone          func() bool    // reports that no other run of the work space is in progress and none can start until Clear; nothing may be alive inside; may be nil
	RecheckAll     func() *Ending // asks each control whether the boundary has changed
	Quarantined    *quarantine.Session
	unneeded       []*os.File
	dismantling    sync.WaitGroup
}

// Unneeded takes files that keep parts of the boundary alive, for [Job.Dismantle]. A nil file
// is none.
func (j *Job) Unneeded(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			j.unneeded = append(j.unneeded, f)
		}
	}
}

// Dismantle closes the unneeded files while the caller goes on. With the last of them the
// kernel removes the mounts and the namespaces, which takes as long as to examine a small
// work space. At the latest it does so when this process ends.
func (j *Job) Dismantle() {
	files := j.unneeded
	if j.unneeded = nil; len(files) == 0 {
		return
	}
	j.dismantling.Go(func() {
		for _, f := range files {
			f.Close()
		}
	})
}

// Dismantled waits until the mounts are gone, if the next run may mount the same layers.
func (j *Job) Dismantled() {
	if j.Plan.View != nil {
		j.dismantling.Wait()
	}
}

// opened returns how the boundary changed while the command ran, or "". The scan of what a
// session's command has left may ask while the run goes on.
func (j *Job) opened() string {
	how, _ := j.changed.Load().(string)
	return how
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
	name := c.Name()
	if name == "" {
		return record.Control{}, false
	}
	asked, wanted := c.Requested()
	line = record.Control{Name: name, Requested: asked, State: Absent, Reason: "not verified: nothing ran"}
	switch {
	case !wanted:
		line.State, line.Requested, line.Reason = NotWanted, "", ""
	case verified:
		line.State, line.Enforced, line.Reason = Enforced, asked, ""
	}
	return c.Report(line), true
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
