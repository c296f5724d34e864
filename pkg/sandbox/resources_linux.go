package sandbox

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
	"ethos/pkg/sandbox/kernel/steps"
)

// resources are how the limits of one run are held: by a cgroup where one can be had, else by resource limits and a watch.
type resources struct {
	plan    *Plan
	machine *machine
	leaf    *cgroup.Leaf
	found   string // where the cgroup was
	lack    error  // why there is none
	release func()
	usage   cgroup.Usage

	stopWatch context.CancelFunc
	watching  sync.WaitGroup
	watched   bool
	watchErr  error
	peak      limits.Sample
	shared    limits.Shared
	over      atomic.Bool // the watch ended the run
}

// takeResources finds the strongest layer that can be had. The error is a [*Refusal].
func takeResources(ctx context.Context, p *Plan, m *machine) (*resources, error) {
	r := &resources{plan: p, machine: m, release: func() {}}
	if !p.WantsCgroup() {
		return r, nil
	}
	bounds := cgroupLimits(p)
	place, release, err := delegations.take(ctx, cgroupCaller(p), bounds.Controllers())
	if err == nil {
		r.release, r.found = release, place.Found
		r.leaf, err = place.NewLeaf(bounds)
		if err != nil { // a limit that was to be had could not be applied
			release()
			return nil, &Refusal{Code: CodeSetup, Err: err, Hint: "ethos-sandbox probe shows what this machine can enforce"}
		}
		return r, nil
	}
	r.lack = err
	if p.Enforce == "cgroup" {
		refusal := &Refusal{Code: CodeRequire, Err: err}
		var lacking *cgroup.Unavailable
		if errors.As(err, &lacking) {
			refusal.Hint = lacking.Hint
		}
		return nil, refusal
	}
	return r, nil
}

// cgroupLimits are what a cgroup is to hold.
func cgroupLimits(p *Plan) cgroup.Limits {
	bounds := cgroup.Limits{MemoryBytes: p.Limits.MemoryBytes, CPUPercent: p.Limits.CPUPercent, Pids: p.Limits.Pids}
	if bounds.Pids > 0 {
		bounds.Pids++ // init counts too
	}
	return bounds
}

// cgroupCaller is this process. systemd is only asked for a scope when a limit was asked for by name or a cgroup is a must: for the wide bounds of a profile alone the
// answer would take longer than a small command.
func cgroupCaller(p *Plan) cgroup.Caller {
	if p.Asked || p.MustCgroup() {
		return cgroup.Self()
	}
	return cgroup.Caller{Files: cgroup.Host{}, PID: os.Getpid(), UID: os.Geteuid()}
}

// delegations is what was found, for all runs of this process: it may have been moved to another cgroup for it, and a second search would begin there.
var delegations shared

type shared struct {
	mu    sync.Mutex
	place *cgroup.Delegation
	users int
}

func (s *shared) take(ctx context.Context, caller cgroup.Caller, controllers []string) (*cgroup.Delegation, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lacking, err := s.lacks(controllers)
	if err != nil {
		return nil, nil, err
	}
	if len(lacking) > 0 && s.users > 0 {
		return nil, nil, fmt.Errorf("cgroup: %s, which other runs of this process use, has no %s controller", s.place.Path, strings.Join(lacking, " or "))
	}
	if len(lacking) > 0 {
		s.drop()
	}
	if s.place == nil {
		if s.place, err = cgroup.Discover(ctx, caller, controllers); err != nil {
			return nil, nil, err
		}
	}
	s.users++
	return s.place, s.give, nil
}

func (s *shared) lacks(controllers []string) ([]string, error) {
	if s.place == nil {
		return nil, nil
	}
	return s.place.Lacks(controllers)
}

func (s *shared) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
}

func (s *shared) drop() {
	if s.place != nil {
		_ = s.place.Close() // this process stays in the supervisor's cgroup then
		s.place = nil
	}
}

// Release gives back what [Run] keeps between runs: the place in the cgroup tree that this process was moved to. No run may be under way.
func Release() {
	delegations.mu.Lock()
	defer delegations.mu.Unlock()
	delegations.drop()
}

// rlimitSteps are the limits of each process: prlimit64(2).
func (r *resources) rlimitSteps() []steps.Step {
	var list []steps.Step
	for _, l := range limits.Rlimits(r.bounds(), r.machine.limit) {
		value := &unix.Rlimit{Cur: l.Soft, Max: l.Hard}
		list = append(list, step("rlimits", "prlimit64", unix.SYS_PRLIMIT64, l.Resource.String(), steps.Int(0), steps.Int(int(l.Resource)), steps.Ptr(value), steps.Int(0)))
	}
	return list
}

func (r *resources) bounds() limits.Bounds {
	l := r.plan.Limits
	b := limits.Bounds{FileBytes: l.FileBytes, OpenFiles: l.OpenFiles, Processes: l.Pids, CPU: l.Timeout * time.Duration(r.machine.processors)}
	if r.leaf == nil {
		b.DataBytes = l.MemoryBytes
	}
	return b
}

func (r *resources) cgroupFD() int {
	if r.leaf == nil {
		return 0
	}
	return r.leaf.FD()
}

// firstLook leaves the processor to the command while it starts; what ends before is measured by its own resource usage.
const firstLook = 20 * time.Millisecond

// watches: memory is bounded, and no cgroup does it.
func (r *resources) watches() bool { return r.leaf == nil && r.plan.Limits.MemoryBytes > 0 }

// watch begins to look at the memory of the tree below init, where no cgroup does.
func (r *resources) watch(init int, end func()) {
	if !r.watches() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stopWatch, r.watched = cancel, true
	limit := r.plan.Limits.MemoryBytes
	w := limits.Watch{Tree: limits.Tree{Init: init, Held: r.shared.Held(limit)}, Limit: limit, Over: func(limits.Sample) {
		r.over.Store(true)
		end()
	}}
	r.watching.Go(func() {
		select {
		case <-ctx.Done():
		case <-time.After(firstLook):
			r.peak, r.watchErr = w.Run(ctx)
		}
	})
}

// kill ends what is in the cgroup, also what is not below init any more: nothing can be, but it costs nothing to be sure.
func (r *resources) kill() {
	if r.leaf != nil {
		r.leaf.Kill()
	}
}

// close measures, and gives everything back. Init must be reaped.
func (r *resources) close() {
	if r.stopWatch != nil {
		r.stopWatch()
		r.watching.Wait()
	}
	r.shared.Close()
	if r.leaf != nil {
		r.usage, _ = r.leaf.Usage()
		r.leaf.Kill()
		ctx, cancel := context.WithTimeout(context.Background(), endLimit)
		defer cancel()
		if err := r.leaf.Remove(ctx); err != nil {
			r.lack = err
		}
	}
	r.release()
}

// oom reports whether the memory limit ended the run.
func (r *resources) oom() bool { return r.over.Load() || r.usage.OOMKills > 0 }

// check compares the cgroup of the waiting command with its leaf.
func (r *resources) check(cgroups string) error {
	if r.leaf == nil {
		return nil
	}
	name := "/" + base(r.leaf.Path)
	for line := range strings.Lines(cgroups) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && strings.HasSuffix(path, name) {
			return nil
		}
	}
	return fmt.Errorf("cgroup: the command is in %q, not in %s", strings.TrimSpace(cgroups), r.leaf.Path)
}

// cgroupControl and rlimitControl are the evidence. held says that the command was seen confined.
func (r *resources) cgroupControl(held bool) record.Control {
	c := record.Control{Name: ControlCgroup, Requested: r.text(), State: stateNotWanted}
	switch {
	case !r.plan.WantsCgroup():
		c.Requested = ""
	case r.leaf != nil && held:
		c.State, c.Enforced, c.Reason = stateEnforced, r.text()+", in "+r.found, ""
	case r.lack != nil && held:
		c.State, c.Enforced, c.Reason = stateDegraded, "resource limits and a sampled watch", r.lack.Error()
	default:
		c.State, c.Reason = stateAbsent, "not verified: nothing ran"
		if r.lack != nil {
			c.Reason = r.lack.Error()
		}
	}
	return c
}

func (r *resources) text() string {
	l := r.plan.Limits
	return Limits{MemoryBytes: l.MemoryBytes, CPUPercent: l.CPUPercent, Pids: l.Pids}.Text()
}

func (r *resources) rlimitControl(held bool) record.Control {
	c := record.Control{Name: ControlRlimits, State: stateAbsent, Reason: "not verified: nothing ran"}
	var names []string
	for _, l := range limits.Rlimits(r.bounds(), r.machine.limit) {
		names = append(names, fmt.Sprintf("%s=%d", strings.TrimPrefix(l.Resource.String(), "RLIMIT_"), l.Soft))
	}
	c.Requested = strings.Join(names, " ")
	if !held {
		return c
	}
	c.State, c.Enforced, c.Reason = stateEnforced, c.Requested, ""
	if r.plan.Limits.Pids > 0 && r.leaf == nil && !limits.NprocHolds(os.Geteuid()) {
		c.State, c.Reason = stateDegraded, "the kernel does not hold the machine's root to RLIMIT_NPROC: the number of processes is not bounded without a cgroup"
	}
	if r.watchErr != nil {
		c.State, c.Reason = stateDegraded, r.watchErr.Error()
	}
	return c
}

// measure is what the run used, by the layer that knows best.
func (r *resources) measure(u record.Usage) record.Usage {
	switch {
	case r.leaf != nil:
		return record.Usage{PeakMemoryBytes: r.usage.MemoryPeak, CPUSeconds: r.usage.CPU.Seconds(), PeakPids: r.usage.PidsPeak,
			ReadBytes: r.usage.ReadBytes, WriteBytes: r.usage.WriteBytes, MeasuredBy: "cgroup"}
	case r.watched:
		u.PeakMemoryBytes, u.PeakPids = max(u.PeakMemoryBytes, r.peak.Bytes), int64(r.peak.Processes)
	}
	return u
}
