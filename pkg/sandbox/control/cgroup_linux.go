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
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// cgroupControl limits memory, processor time and the number of processes with a cgroup for
// the run, if one is available: cgroups(7), and Documentation/admin-guide/cgroup-v2.rst of the
// kernel. Only a cgroup limits all processes of a run together; the command cannot leave it,
// because no cgroup file system is visible inside and clone3(2), whose CLONE_INTO_CGROUP names
// one by descriptor, is refused.
type cgroupControl struct {
	*Job
	defaults
	prepared bool
	leaf     *cgroup.Leaf
	found    string // how the cgroup was found
	lack     error  // why there is none
	release  func()
	usage    cgroup.Usage
}

func (c *cgroupControl) Name() string { return "cgroup" }

func (c *cgroupControl) Requested() (string, bool) {
	if !c.prepared {
		return c.Job.Plan.Limits.Text(), true
	}
	return ofCgroup(c.Job.Plan.Limits).Text(), c.Job.Plan.WantsCgroup()
}

// Prepare finds the strongest available mechanism. No cgroup at all is an error only if the
// plan requires one; a cgroup that does not take its limits is an error in any case.
func (c *cgroupControl) Prepare(ctx context.Context) error {
	p := c.Job.Plan
	if !p.WantsCgroup() && !c.Spawns {
		c.prepared = true
		return nil
	}
	bounds := c.bounds()
	place, release, err := delegations.take(ctx, c.caller(), bounds.Controllers())
	if err != nil {
		return c.without(err)
	}
	if c.Spawns {
		if c.Tree, err = place.NewTree(bounds); err == nil {
			c.leaf = c.Tree.Leaf
		}
	} else {
		c.leaf, err = place.NewLeaf(bounds)
	}
	if err != nil { // an available limit could not be applied
		release()
		return &plan.Refusal{Code: plan.CodeSetup, Err: err, Hint: "ethos-sandbox probe shows what this machine can enforce"}
	}
	c.release, c.found, c.InCgroup, c.prepared = release, place.Found, true, true
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
	c.prepared, c.NoCgroup = true, lack
	return nil
}

func (c *cgroupControl) hint() string {
	var lacking *cgroup.Unavailable
	if errors.As(c.lack, &lacking) {
		return lacking.Hint
	}
	return ""
}

// bounds returns the limits that the cgroup is to enforce. The processes that maintain the
// boundary count too: init and, in a session, the one that clones the commands.
func (c *cgroupControl) bounds() cgroup.Limits {
	l := c.Job.Plan.Limits
	bounds := cgroup.Limits{MemoryBytes: l.MemoryBytes, CPUPercent: l.CPUPercent, Pids: l.Pids}
	if bounds.Pids > 0 {
		bounds.Pids++
		if c.Spawns {
			bounds.Pids++
		}
		if c.Job.Plan.Backend == plan.Bwrap {
			bounds.Pids += wrapperTasks
		}
	}
	return bounds
}

// caller returns this process as the caller. systemd is asked for a scope only if a limit
// was requested by name or a cgroup is required, and for a session, whose commands may have
// limits of their own. For the wide limits of a profile alone, its answer would take longer
// than a small command.
func (c *cgroupControl) caller() cgroup.Caller {
	caller := cgroup.Caller{Files: cgroup.Host{}, PID: os.Getpid(), UID: os.Geteuid()}
	if c.Job.Plan.Asked || c.Job.Plan.MustCgroup() || c.Spawns {
		caller = cgroup.Self()
	}
	if files := readAhead.Swap(nil); files != nil {
		caller.Files = *files
	}
	return caller
}

// Steps start init in the cgroup. In a session, init moves on to the child for those that
// maintain it, once this cgroup is the root of its cgroup namespace: a process can only
// start others in cgroups below that root (cgroup-v2.rst, "Delegation Containment").
func (c *cgroupControl) Steps(at Phase, p *Program) {
	if at == AtClone && c.leaf != nil {
		p.CgroupFD = c.leaf.FD()
	}
	if at == InitCgroup && c.Tree != nil {
		move := step("init", "write", unix.SYS_WRITE, "cgroup.procs", steps.Int(c.Tree.KeeperFD()), steps.Str("0"), steps.Int(1))
		move.Want = 1
		p.Init = append(p.Init, move)
	}
}

// VerifyPlace compares the cgroup of the waiting command with the run's cgroup. That of a
// session is then divided.
func (c *cgroupControl) VerifyPlace(pid int) error {
	if c.leaf == nil {
		return nil
	}
	if c.Tree != nil {
		return c.Tree.Divide(pid, c.bounds().Controllers())
	}
	return verifyCgroup(pid, c.leaf)
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
		remove := c.leaf.Remove
		if c.Tree != nil {
			remove = c.Tree.Remove
		}
		if err := remove(ctx); err != nil {
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
	return usageOf(c.usage)
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

var readAhead atomic.Pointer[cgroup.Files]

// ReadAhead begins to read what the next run of this process needs to know of the machine.
func ReadAhead() {
	files := cgroup.Ahead(cgroup.Host{})
	readAhead.Store(&files)
}

// Release frees what is kept between runs: the place in the cgroup tree to which this
// process was moved. No run may be in progress.
func Release() {
	delegations.mu.Lock()
	defer delegations.mu.Unlock()
	delegations.drop()
}
