package control

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/limits"
	"ethos/pkg/sandbox/kernel/steps"
)

// rlimits sets the limits of each process: getrlimit(2). It lowers the hard limits too, which
// only CAP_SYS_RESOURCE in the first user namespace raises again. If no cgroup
// limits memory, it also watches the memory of all processes together, because a limit of
// each process says nothing about their sum.
type rlimits struct {
	*Job
	defaults
	prepared  bool
	others    int64 // the user's other threads, if RLIMIT_NPROC counts them
	stopWatch func()
	watching  sync.WaitGroup
	result    atomic.Pointer[watchResult]
	shared    limits.Shared
	over      atomic.Bool // the watch ended the run
	idle      atomic.Bool // no process of a session's commands is alive
}

// watchResult is what the watch has found when it ends, which may be early.
type watchResult struct {
	peak limits.Sample
	err  error
}

func (c *rlimits) Name() string { return "rlimits" }

func (c *rlimits) Requested() (string, bool) {
	if !c.prepared {
		return c.Job.Plan.Limits.Text(), true
	}
	var names []string
	for _, l := range limits.Rlimits(c.bounds(), c.machine.limit) {
		names = append(names, fmt.Sprintf("%s=%d", strings.TrimPrefix(l.Resource.String(), "RLIMIT_"), l.Soft))
	}
	return strings.Join(names, " "), true
}

func (c *rlimits) Prepare(context.Context) error {
	c.prepared = true
	if (c.Flat || c.HostUser) && c.Job.Plan.Limits.Pids > 0 {
		c.others = limits.Threads(os.Geteuid())
	}
	if c.Wrapped {
		c.others += wrapperTasks
	}
	return nil
}

// Steps set the limits: prlimit64(2).
func (c *rlimits) Steps(at Phase, p *Program) {
	switch at {
	case InitHost:
		p.Init = append(p.Init, c.segmentSteps(&p.Slots)...)
	case Limits:
		for _, l := range limits.Rlimits(c.bounds(), c.machine.limit) {
			value := &unix.Rlimit{Cur: l.Soft, Max: l.Hard}
			p.Command = append(p.Command, step("rlimits", "prlimit64", unix.SYS_PRLIMIT64, l.Resource.String(), steps.Int(0), steps.Int(int(l.Resource)), steps.Ptr(value), steps.Int(0)))
		}
	}
}

// bounds are the limits of the plan as resource limits. RLIMIT_CPU is of one process and in
// seconds, so the time limit, times the processors, is more than any process can use in time.
func (c *rlimits) bounds() limits.Bounds {
	l := c.Job.Plan.Limits
	if l.Pids > 0 { // RLIMIT_NPROC counts all processes of the user in the namespace
		l.Pids += c.others
	}
	return limits.Bounds{FileBytes: l.FileBytes, OpenFiles: l.OpenFiles, Processes: l.Pids, CPU: l.Timeout * time.Duration(c.machine.processors)}
}

// segmentSteps limit System V shared memory if no cgroup counts it, and hand over the list
// of segments for the watch. They must run in the IPC namespace while the host's /proc is
// visible.
//
// kernel.shmall belongs to the namespace and is in pages. The kernel lets only the
// namespace's uid 0 write it (ipc_permissions in ipc/ipc_sysctl.c), which an ordinary user
// does not have inside. For an ordinary user, segments are therefore only watched.
func (c *rlimits) segmentSteps(slots *steps.Slots) []steps.Step {
	watched := c.watches() || c.Spawns && !c.InCgroup
	if !watched || c.Flat { // the IPC namespace is the host's, and the filter denies segments
		return nil
	}
	const stage, shmall, segmentList = "shared_memory", "/proc/sys/kernel/shmall", "/proc/sysvipc/shm"
	without := []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.ENOENT, syscall.EROFS} // parts of /proc are covered, or the caller is not root
	limit, segments := slots.New(), slots.New()
	open := func(path string, flags int, to steps.Slot, more int32) steps.Step {
		s := step(stage, "openat", unix.SYS_OPENAT, path, steps.Int(unix.AT_FDCWD), steps.Str(path), steps.Int(flags|unix.O_CLOEXEC))
		s.Save, s.Ignore, s.Skip = to, without, more
		return s
	}
	var list []steps.Step
	pages := strconv.FormatInt(max(1, c.Job.Plan.Limits.MemoryBytes/int64(c.machine.pageBytes)), 10)
	if c.machine.uid == 0 && c.watches() && !c.Wrapped { // in the wrapper, proc(5) is read-only by then
		list = append(list, open(shmall, unix.O_WRONLY, limit, 2),
			step(stage, "write", unix.SYS_WRITE, shmall, steps.From(limit), steps.Str(pages), steps.Int(len(pages))),
			step(stage, "close", unix.SYS_CLOSE, shmall, steps.From(limit)))
	}
	return append(list, open(segmentList, unix.O_RDONLY, segments, 2),
		steps.Hand(HandedSegments, segments),
		step(stage, "close", unix.SYS_CLOSE, segmentList, steps.From(segments)))
}

// Receive accepts the list of segments.
func (c *rlimits) Receive(what, fd int) bool {
	if what != HandedSegments {
		return false
	}
	c.shared.Segments = os.NewFile(uintptr(fd), "/proc/sysvipc/shm")
	c.Segments = c.shared.Segments
	return true
}

// VerifyPlace opens the command's root for the watch: the private directories are on its
// tmpfs, which is one file system.
func (c *rlimits) VerifyPlace(pid int) error {
	if c.watches() && !c.Flat {
		if f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
			c.shared.Scratch = f
		}
	}
	return nil
}

// firstLook delays the watch while the command starts. A command that ends earlier is
// measured by its own resource usage.
const firstLook = 20 * time.Millisecond

// watches reports whether memory is limited and no cgroup limits it.
func (c *rlimits) watches() bool { return !c.InCgroup && c.Job.Plan.Limits.MemoryBytes > 0 }

// Run starts watching the memory of the process tree below init, if no cgroup limits it.
func (c *rlimits) Run(p *steps.Process) {
	if !c.watches() {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	limit := c.Job.Plan.Limits.MemoryBytes
	w := limits.Watch{Tree: limits.Tree{Init: p.PID, Held: c.shared.Held(limit)}, Limit: limit, Asleep: c.idle.Load, Over: func(limits.Sample) {
		c.over.Store(true)
		c.Stop()
	}}
	c.watching.Add(1)
	first := time.AfterFunc(firstLook, func() {
		defer c.watching.Done()
		peak, err := w.Run(ctx)
		c.result.Store(&watchResult{peak, err})
	})
	c.stopWatch = func() {
		if cancel(); first.Stop() {
			c.watching.Done()
		}
		c.watching.Wait()
	}
}

// Look stops the watch while nothing is alive inside.
func (c *rlimits) Look(_ context.Context, idle bool) []record.Denial {
	c.idle.Store(idle)
	return nil
}

// Wake makes the watch go on.
func (c *rlimits) Wake(context.Context) error {
	c.idle.Store(false)
	return nil
}

// End stops the watch, and releases what keeps the namespaces and the private tmpfs alive.
func (c *rlimits) End() {
	if c.stopWatch != nil {
		c.stopWatch()
	}
	c.Unneeded(c.shared.Segments, c.shared.Scratch)
}

// Killed reports whether the memory limit ended the run.
func (c *rlimits) Killed() string {
	if c.over.Load() {
		return record.StatusOOM
	}
	return ""
}

// Measure adds the highest values of the watch.
func (c *rlimits) Measure(u record.Usage) record.Usage {
	if r := c.result.Load(); r != nil {
		u.PeakMemoryBytes, u.PeakPids = max(u.PeakMemoryBytes, r.peak.Bytes), int64(r.peak.Processes)
	}
	return u
}

// Report says what the limits do not hold: the kernel does not apply RLIMIT_NPROC to root, and
// a watch may have failed.
func (c *rlimits) Report(line record.Control) record.Control {
	if line.State != Enforced {
		return line
	}
	if c.Job.Plan.Limits.Pids > 0 && !c.InCgroup && !limits.NprocHolds(os.Geteuid()) {
		line.State, line.Reason = Degraded, noNproc
	}
	if r := c.result.Load(); r != nil && r.err != nil {
		line.State, line.Reason = Degraded, r.err.Error()
	}
	return line
}

func (c *rlimits) Hint() string {
	return "run it as an ordinary user, for whom resource limits are enough, or have a cgroup delegated to root"
}
