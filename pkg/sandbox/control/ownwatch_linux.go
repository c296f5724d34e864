package control

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/sandbox/kernel/limits"
)

// This file holds the limits of a command without a cgroup.

// lower sets the mark of the waiting command, and what remains of its limits without a
// cgroup.
//
// The mark is a hard limit of RLIMIT_RTTIME that no other command of the session has. fork(2)
// and execve(2) keep it, and only CAP_SYS_RESOURCE raises it: getrlimit(2). The
// limit is on processor time of real-time processes, in microseconds. Each command has the
// next lower value below that of the process that starts them, which makes no difference to
// what it can do.
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
// keeps to its limits: the time limit, times the processors that it may keep busy. It is 0
// without a time limit. RLIMIT_CPU counts each process by itself.
func (o *Own) processorTime() time.Duration {
	share := int64(o.job.machine.processors) * 100
	if o.limits.CPUPercent > 0 {
		share = min(share, o.limits.CPUPercent)
	}
	return o.limits.Timeout * time.Duration(share) / 100
}

// lowerOne lowers one resource limit of a process and reads it back: prlimit(2). It never
// raises one, whatever it is asked for.
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

// seen keeps the highest values of the watch.
func (o *Own) seen(peak limits.Sample) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.peak = peak
}

// emptyLooks is how many samples in a row find nothing of a command that has ended.
const emptyLooks = 20

// unwatch ends the watch when the command has ended and nothing with its mark is left, or when
// done is closed.
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

// crowded reports whether a sample has too many processes.
func (o *Own) crowded(s *limits.Sample) bool {
	return o.limits.Pids > 0 && int64(s.Threads) > o.limits.Pids
}
