package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/seccomp"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Own is what one command of a session has of its own to be limited and measured by: a leaf
// of the session's cgroup or, where that has none and the command has limits, a mark of its
// processes and a watch over them.
//
// The mark is a value of the resource limit RLIMIT_RTTIME. Every child inherits it,
// whatever its parent, process group or session becomes, and the system call filters of the
// session keep all processes from changing it: [seccomp.Mark].
type Own struct {
	job    *Job
	in     Inside
	limits plan.Limits
	leaf   *cgroup.Leaf
	lack   error  // why no cgroup holds all limits
	mark   uint64 // 0: none
	set    []limits.Rlimit
	usage  cgroup.Usage

	stop     context.CancelFunc
	watching sync.WaitGroup
	mu       sync.Mutex
	peak     limits.Sample
	watchErr error
	over     atomic.Pointer[limits.Sample] // ended the command
}

// Inside are the processes that maintain a session, as numbered outside.
type Inside struct{ Init, Spawner int }

// NewOwn prepares the limits of a command. must says that a cgroup has to hold them. The
// error is a [*plan.Refusal].
func NewOwn(j *Job, in Inside, own plan.Limits, must bool) (*Own, error) {
	if err := CheckOwn(j.Plan, own); err != nil {
		return nil, err
	}
	o := &Own{job: j, in: in, limits: own, lack: j.NoCgroup}
	if j.Tree != nil {
		if err := o.enter(); err != nil {
			return nil, &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: "end the session and start it again: ethos-sandbox session end"}
		}
	}
	if must && o.lack != nil {
		o.Close()
		return nil, &plan.Refusal{Code: plan.CodeRequire, Err: o.lack, Hint: "omit --require cgroup, or start the session where a cgroup is available: ethos-sandbox probe says how to get one"}
	}
	return o, nil
}

// enter makes the leaf. A session that was started without a limit of processor time may
// lack the controller for it; the other limits then are in force.
func (o *Own) enter() (err error) {
	bounds := cgroup.Limits{MemoryBytes: o.limits.MemoryBytes, CPUPercent: o.limits.CPUPercent, Pids: o.limits.Pids}
	o.leaf, err = o.job.Tree.NewLeaf(bounds)
	if errors.Is(err, cgroup.ErrNoController) && bounds.CPUPercent > 0 {
		o.lack, bounds.CPUPercent = err, 0
		o.leaf, err = o.job.Tree.NewLeaf(bounds)
	}
	return err
}

// limited reports whether the command has limits that a cgroup can hold.
func (o *Own) limited() bool { return ofCgroup(o.limits) != (plan.Limits{}) }

// CheckOwn refuses a limit of a command that is more than its session's.
func CheckOwn(p *plan.Plan, own plan.Limits) error {
	for _, l := range []struct {
		flag      string
		own, most int64
	}{{"--memory", own.MemoryBytes, p.Limits.MemoryBytes}, {"--cpu", own.CPUPercent, p.Limits.CPUPercent}, {"--pids", own.Pids, p.Limits.Pids}} {
		switch {
		case l.own < 0:
			return plan.Refuse(plan.CodeDeclaration, "give a positive number", "%s: %d", l.flag, l.own)
		case l.most > 0 && l.own > l.most:
			return plan.Refuse(plan.CodeDeclaration, fmt.Sprintf("give at most %d, or start a session that has more", l.most), "%s: %d is more than the %d of the session", l.flag, l.own, l.most)
		}
	}
	return nil
}

// start adds to an image where the command starts and what it loads there.
func (o *Own) start(i *steps.Image) {
	if o.leaf != nil {
		i.CgroupFD = o.leaf.FD()
	}
	for _, f := range o.job.CommandFilters {
		i.Add(step("seccomp", "seccomp", unix.SYS_SECCOMP, f.name, steps.Int(seccomp.SetModeFilter), steps.Int(f.flags), i.Filter(f.program.Fprog())))
	}
}

// Verify compares the cgroup of the waiting command with its leaf. Without one, it lowers
// the command's resource limits, and reads them back.
func (o *Own) Verify(pid int) error {
	switch {
	case o.leaf != nil:
		return verifyCgroup(pid, o.leaf)
	case o.limited():
		return o.lower(pid)
	}
	return nil
}

// lower sets the mark of the waiting command, and what remains of its limits without a
// cgroup.
func (o *Own) lower(pid int) error {
	var above unix.Rlimit
	if err := unix.Prlimit(o.in.Spawner, unix.RLIMIT_RTTIME, nil, &above); err != nil {
		return fmt.Errorf("prlimit RLIMIT_RTTIME: %w", err)
	}
	serial := o.job.marks.Add(1)
	if above.Max <= serial {
		return fmt.Errorf("RLIMIT_RTTIME is %d: it leaves no mark for a command", above.Max)
	}
	hard := above.Max - serial
	list := []limits.Rlimit{{Resource: limits.RealTime, Limit: limits.Limit{Soft: hard, Hard: hard}}}
	if o.limits.Pids > 0 { // RLIMIT_NPROC counts all that runs in the session
		now, err := limits.Tree{Init: o.in.Init}.Sample(false)
		if err != nil {
			return err
		}
		most := uint64(o.limits.Pids) + uint64(max(now.Threads, 1)-1) // which include the command
		list = append(list, limits.Rlimit{Resource: limits.Processes, Limit: limits.Limit{Soft: most, Hard: most}})
	}
	if seconds := o.processorTime(); seconds > 0 {
		unlimited := func(limits.Resource) limits.Limit { return limits.Limit{Soft: limits.Infinity, Hard: limits.Infinity} }
		list = append(list, limits.Rlimits(limits.Bounds{CPU: seconds}, unlimited)...)
	}
	for _, l := range list {
		if err := o.lowerOne(pid, l); err != nil {
			return fmt.Errorf("prlimit %s: %w", l.Resource, err)
		}
	}
	o.mark = hard
	return nil
}

// processorTime returns the processor time that no process of the command exceeds that
// keeps to its limits.
func (o *Own) processorTime() time.Duration {
	share := int64(o.job.machine.processors) * 100
	if o.limits.CPUPercent > 0 {
		share = min(share, o.limits.CPUPercent)
	}
	return o.limits.Timeout * time.Duration(share) / 100
}

// lowerOne lowers one resource limit of a process and reads it back.
func (o *Own) lowerOne(pid int, l limits.Rlimit) error {
	var old, got unix.Rlimit
	if err := unix.Prlimit(pid, int(l.Resource), nil, &old); err != nil {
		return err
	}
	lowered := unix.Rlimit{Cur: min(l.Soft, old.Cur), Max: min(l.Hard, old.Max)}
	if err := unix.Prlimit(pid, int(l.Resource), &lowered, nil); err != nil {
		return err
	}
	if err := unix.Prlimit(pid, int(l.Resource), nil, &got); err != nil {
		return err
	}
	if got != lowered {
		return fmt.Errorf("it is %v after %v was set", got, lowered)
	}
	o.set = append(o.set, limits.Rlimit{Resource: l.Resource, Limit: limits.Limit{Soft: got.Cur, Hard: got.Max}})
	return nil
}

// Has reports whether a process of the session belongs to a command with a mark.
func (o *Own) Has(pid int) bool {
	var l unix.Rlimit
	return o.mark != 0 && unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &l) == nil && l.Max == o.mark
}

// Run starts the watch over the processes of the command, if no cgroup limits them. over
// must end all that [Own.Has].
func (o *Own) Run(over func()) {
	if o.mark == 0 || o.limits.MemoryBytes == 0 && o.limits.Pids == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.stop = cancel
	w := limits.Watch{
		Tree:  limits.Tree{Init: o.in.Init, Of: o.Has},
		Limit: o.limits.MemoryBytes, Threads: o.limits.Pids, Empty: emptyLooks, Seen: o.seen,
		Over: func(s limits.Sample) {
			o.over.Store(&s)
			over()
		},
	}
	if w.Limit > 0 {
		shared := &limits.Shared{Segments: o.job.Segments, Made: true}
		w.Tree.Held = shared.Held(w.Limit)
	}
	o.watching.Go(func() {
		_, err := w.Run(ctx)
		o.mu.Lock()
		o.watchErr = err
		o.mu.Unlock()
	})
}

func (o *Own) seen(peak limits.Sample) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.peak = peak
}

// emptyLooks is how many samples in a row find nothing of a command that has ended.
const emptyLooks = 20

// settleInterval is how often a leaf is examined that is not empty.
const settleInterval = 200 * time.Millisecond

// Settle returns when nothing of the command is left or done is closed, and releases what
// it had of its own.
func (o *Own) Settle(done <-chan struct{}) {
	if o.leaf == nil {
		o.unwatch(done)
		return
	}
	tick := time.NewTicker(settleInterval)
	defer tick.Stop()
	for {
		if populated, err := o.leaf.Populated(); err != nil || !populated {
			break
		}
		select {
		case <-done:
			_ = o.leaf.Kill() // the session's cgroup is gone, and this one with it
		case <-tick.C:
			continue
		}
		break
	}
	_ = o.leaf.Remove(context.Background()) // what cannot be removed is, with the session's
}

func (o *Own) unwatch(done <-chan struct{}) {
	if o.stop == nil {
		return
	}
	ended := make(chan struct{})
	go func() { o.watching.Wait(); close(ended) }()
	select {
	case <-done:
	case <-ended:
	}
	o.stop()
	<-ended
}

// Close releases what a command had that did not run.
func (o *Own) Close() {
	if o.stop != nil {
		o.stop()
		o.watching.Wait()
	}
	if o.leaf != nil {
		_ = o.leaf.Kill()
		_ = o.leaf.Remove(context.Background())
	}
}

// Ended reads what the command has used. It must be called before [Own.Settle].
func (o *Own) Ended() {
	if o.leaf != nil {
		o.usage, _ = o.leaf.Usage()
	}
}

// Killed returns the status of a record if the memory limit ended the command, else "".
func (o *Own) Killed() string {
	over := o.over.Load()
	if o.usage.OOMKills > 0 || over != nil && !o.crowded(over) {
		return record.StatusOOM
	}
	return ""
}

// crowded reports whether a sample has too many processes.
func (o *Own) crowded(s *limits.Sample) bool {
	return o.limits.Pids > 0 && int64(s.Threads) > o.limits.Pids
}

// Denials returns the limits that had an effect.
func (o *Own) Denials() (list []record.Denial) {
	add := func(what, reason, remedy string) {
		list = append(list, record.Denial{Layer: o.layer(), Kind: record.KindLimit, What: what, Reason: reason, Remedy: remedy})
	}
	memory := o.limits.MemoryBytes
	processes, more := fmt.Sprintf("%d processes", o.limits.Pids), fmt.Sprintf("--pids %d", 2*o.limits.Pids)
	switch over := o.over.Load(); {
	case o.Killed() != "" && memory > 0:
		add(fmt.Sprintf("%d bytes", memory), "the command was killed at its memory limit", fmt.Sprintf("--memory %dM", max(1, 2*memory>>20)))
	case o.Killed() != "":
		add(fmt.Sprintf("%d bytes", o.job.Plan.Limits.MemoryBytes), "the command was killed at the memory limit of its session", "")
	case over != nil:
		add(processes, "the command was killed: it had more processes and threads", more)
	}
	if n := o.usage.PidsDenied; n > 0 && o.limits.Pids > 0 {
		add(processes, fmt.Sprintf("the limit kept %d processes or threads from being started", n), more)
	}
	return list
}

// Unheld returns why the limit of processor time is not in force, else "".
func (o *Own) Unheld() string {
	if o.limits.CPUPercent == 0 || o.lack == nil {
		return ""
	}
	return o.lack.Error()
}

func (o *Own) layer() string {
	if o.leaf != nil {
		return "cgroup"
	}
	return "rlimits"
}

// Evidence replaces what the evidence of the session says about limits and usage by what is
// known of the command.
func (o *Own) Evidence(e *record.Sandbox) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.leaf != nil {
		e.Usage = usageOf(o.usage)
	} else if o.peak.Processes > 0 {
		e.Usage = record.Usage{PeakMemoryBytes: o.peak.Bytes, PeakPids: int64(o.peak.Threads), MeasuredBy: "watch"}
	}
	if !o.limited() {
		return
	}
	e.Controls = append([]record.Control{}, e.Controls...)
	for i := range e.Controls {
		switch line := &e.Controls[i]; line.Name {
		case "cgroup":
			o.ofCgroup(line)
			e.CgroupRequested, e.CgroupEnabled = true, line.State == Enforced
		case "rlimits":
			o.ofRlimits(line)
		}
	}
}

func (o *Own) ofCgroup(line *record.Control) {
	asked := ofCgroup(o.limits).Text() + " of the command"
	within := ""
	if line.Requested != "" && line.Requested != (plan.Limits{}).Text() {
		within = ", within " + line.Requested + " of the session"
	}
	line.Requested, line.State, line.Reason, line.Enforced = asked+within, Enforced, "", asked+", in a leaf of its own"+within
	if o.leaf == nil {
		line.Enforced = "resource limits, and a sampled watch over the processes of the command"
	}
	if o.lack != nil {
		line.State, line.Reason = Degraded, o.lack.Error()
	}
}

func (o *Own) ofRlimits(line *record.Control) {
	var names []string
	for _, l := range o.set {
		if l.Resource != limits.RealTime {
			names = append(names, fmt.Sprintf("%s=%d", strings.TrimPrefix(l.Resource.String(), "RLIMIT_"), l.Soft))
		}
	}
	if len(names) > 0 {
		line.Enforced += "; of the command " + strings.Join(names, " ")
	}
	if o.leaf == nil && o.limits.Pids > 0 && line.State == Enforced && !limits.NprocHolds(os.Geteuid()) {
		line.State, line.Reason = Degraded, noNproc
	}
	if o.watchErr != nil {
		line.State, line.Reason = Degraded, o.watchErr.Error()
	}
}
