package control

import (
	"context"
	"errors"
	"strconv"
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
		return nil, &plan.Refusal{Code: plan.CodeRequire, Err: o.lack, Hint: "omit --require cgroup, or start the session where a cgroup is available: ethos-sandbox run --require cgroup -- true says how to get one"}
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
			return plan.Refuse(plan.CodeDeclaration, "give at most "+amount(l.flag, l.most)+", or start a session that has more", "%s: %s is more than the %s of the session", l.flag, amount(l.flag, l.own), amount(l.flag, l.most))
		}
	}
	return nil
}

// amount writes the value of a flag as a person would give it.
func amount(flag string, n int64) string {
	if flag == "--memory" && n%(1<<20) == 0 {
		return strconv.FormatInt(n>>20, 10) + "M"
	}
	return strconv.FormatInt(n, 10)
}

// start adds to an image where the command starts and what it loads there.
func (o *Own) start(i *steps.Image) {
	if o.leaf != nil {
		i.CgroupFD = o.leaf.FD()
	}
	for _, f := range o.job.CommandFilters {
		i.Add(step("seccomp", "seccomp", unix.SYS_SECCOMP, f.Name, steps.Int(seccomp.SetModeFilter), steps.Int(f.Flags), i.Filter(f.program.Fprog())))
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

// Lasts reports whether [Own.Settle] may have to wait.
func (o *Own) Lasts() bool { return o.leaf != nil || o.stop != nil }

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
