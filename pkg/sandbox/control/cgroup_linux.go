package control

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/cgroup"
	"ethos/pkg/sandbox/plan"
)

// cgroupControl limits memory, processor time and the number of processes with a cgroup for
// the run, if one is available: cgroups(7).
type cgroupControl struct {
	*Job
	prepared bool
	leaf     *cgroup.Leaf
	found    string // how the cgroup was found
	lack     error  // why there is none
	release  func()
	usage    cgroup.Usage
}

func (c *cgroupControl) Name() string { return "cgroup" }

func (c *cgroupControl) Plan() (string, bool) {
	if !c.prepared {
		return c.Job.Plan.Limits.Text(), true
	}
	l := c.Job.Plan.Limits
	return plan.Limits{MemoryBytes: l.MemoryBytes, CPUPercent: l.CPUPercent, Pids: l.Pids}.Text(), c.Job.Plan.WantsCgroup()
}

// Prepare finds the strongest available mechanism.
func (c *cgroupControl) Prepare(ctx context.Context) error {
	p := c.Job.Plan
	if !p.WantsCgroup() {
		c.prepared = true
		return nil
	}
	bounds := cgroupLimits(p)
	place, release, err := delegations.take(ctx, cgroupCaller(p), bounds.Controllers())
	if err != nil {
		return c.without(err)
	}
	leaf, err := place.NewLeaf(bounds)
	if err != nil { // an available limit could not be applied
		release()
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: "ethos-sandbox probe shows what this machine can enforce"}
	}
	c.leaf, c.release, c.found, c.InCgroup, c.prepared = leaf, release, place.Found, true, true
	return nil
}

// without continues without a cgroup if the plan allows it.
func (c *cgroupControl) without(lack error) error {
	c.lack = lack
	if c.Job.Plan.Enforce == "cgroup" {
		refusal := &plan.Refusal{Code: plan.CodeRequire, Err: lack}
		refusal.Hint = c.hint()
		c.lack = nil
		return refusal
	}
	c.prepared = true
	return nil
}

func (c *cgroupControl) hint() string {
	var lacking *cgroup.Unavailable
	if errors.As(c.lack, &lacking) {
		return lacking.Hint
	}
	return ""
}

// cgroupLimits returns the limits that a cgroup is to enforce.
func cgroupLimits(p *plan.Plan) cgroup.Limits {
	bounds := cgroup.Limits{MemoryBytes: p.Limits.MemoryBytes, CPUPercent: p.Limits.CPUPercent, Pids: p.Limits.Pids}
	if bounds.Pids > 0 {
		bounds.Pids++ // init counts too
	}
	return bounds
}

// cgroupCaller returns this process as the caller. systemd is asked for a scope only if a
// limit was requested by name or a cgroup is required. For the wide limits of a profile
// alone, its answer would take longer than a small command.
func cgroupCaller(p *plan.Plan) cgroup.Caller {
	if p.Asked || p.MustCgroup() {
		return cgroup.Self()
	}
	return cgroup.Caller{Files: cgroup.Host{}, PID: os.Getpid(), UID: os.Geteuid()}
}

func (c *cgroupControl) Steps(at Phase, p *Program) {
	if at == AtClone && c.leaf != nil {
		p.CgroupFD = c.leaf.FD()
	}
}

// VerifyPlace compares the cgroup of the waiting command with the run's cgroup.
func (c *cgroupControl) VerifyPlace(pid int) error {
	text, err := readProc(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return Unreadable(err)
	}
	if c.leaf == nil {
		return nil
	}
	name := "/" + filepath.Base(c.leaf.Path)
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok && strings.HasSuffix(path, name) {
			return nil
		}
	}
	return fmt.Errorf("cgroup: the command is in %q, not in %s", strings.TrimSpace(string(text)), c.leaf.Path)
}

// End kills what is in the cgroup, including processes that are no longer below init. There
// should be none, but the check is cheap.
func (c *cgroupControl) End() {
	if c.leaf != nil {
		c.leaf.Kill()
	}
}

// closeLimit is how long to wait for a cgroup to become empty.
const closeLimit = 10 * time.Second

// Close reads the usage and releases everything.
func (c *cgroupControl) Close() {
	if c.leaf != nil {
		c.usage, _ = c.leaf.Usage()
		c.leaf.Kill()
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		if err := c.leaf.Remove(ctx); err != nil {
			c.lack = err
		}
	}
	c.release()
}

// Killed reports whether the memory limit ended the run.
func (c *cgroupControl) Killed() string {
	if c.usage.OOMKills > 0 {
		return record.StatusOOM
	}
	return ""
}

func (c *cgroupControl) Measure(u record.Usage) record.Usage {
	if c.leaf == nil {
		return u
	}
	return record.Usage{PeakMemoryBytes: c.usage.MemoryPeak, CPUSeconds: c.usage.CPU.Seconds(), PeakPids: c.usage.PidsPeak,
		ReadBytes: c.usage.ReadBytes, WriteBytes: c.usage.WriteBytes, MeasuredBy: "cgroup"}
}

func (c *cgroupControl) Report(line record.Control) record.Control {
	switch {
	case !c.prepared || line.State == NotWanted:
	case c.leaf != nil && c.Verified:
		line.Enforced = line.Requested + ", in " + c.found
	case c.lack != nil && c.Verified:
		line.State, line.Enforced, line.Reason = Degraded, "resource limits and a sampled watch", c.lack.Error()
	case c.lack != nil:
		line.Reason = c.lack.Error()
	}
	return line
}

func (c *cgroupControl) Evidence(e *record.Sandbox, enforced bool) { e.CgroupEnabled = enforced }

func (c *cgroupControl) Hint() string { return c.hint() }

// delegations holds the delegation that was found, for all runs of this process. To use it,
// this process may have been moved to another cgroup, and a second search would start from
// there.
var delegations shared

type shared struct {
	mu         sync.Mutex
	delegation *cgroup.Delegation
	users      int
}

func (s *shared) take(ctx context.Context, caller cgroup.Caller, controllers []string) (*cgroup.Delegation, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lacking, err := s.lacks(controllers)
	if err != nil {
		return nil, nil, err
	}
	if len(lacking) > 0 && s.users > 0 {
		return nil, nil, fmt.Errorf("cgroup: %s, which other runs of this process use, has no %s controller", s.delegation.Path, strings.Join(lacking, " or "))
	}
	if len(lacking) > 0 {
		s.drop()
	}
	if s.delegation == nil {
		if s.delegation, err = cgroup.Discover(ctx, caller, controllers); err != nil {
			return nil, nil, err
		}
	}
	s.users++
	return s.delegation, s.give, nil
}

func (s *shared) lacks(controllers []string) ([]string, error) {
	if s.delegation == nil {
		return nil, nil
	}
	return s.delegation.Lacks(controllers)
}

func (s *shared) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
}

func (s *shared) drop() {
	if s.delegation != nil {
		_ = s.delegation.Close() // on failure this process stays in the supervisor's cgroup
		s.delegation = nil
	}
}

// Release frees what is kept between runs: the place in the cgroup tree to which this
// process was moved. No run may be in progress.
func Release() {
	delegations.mu.Lock()
	defer delegations.mu.Unlock()
	delegations.drop()
}
