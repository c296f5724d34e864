package sandbox

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/mount"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/quarantine"
)

// IO is what a run has to do with its surroundings.
type IO struct {
	Stdin, Stdout, Stderr *os.File // become 0, 1 and 2 of the command
	// Signals that arrive here are passed on to the command. May be nil.
	Signals <-chan os.Signal
	// Captured says that standard output and error are read by a [Capture], which bounds them.
	Captured bool
}

// Outcome is how a command ended.
type Outcome struct {
	Status   string // exited | signaled | timeout | oom, as in a record
	ExitCode int
	Signal   syscall.Signal
	Started  time.Time
	Duration time.Duration
	Evidence record.Sandbox
	// Lost says that init ended without telling how the command had ended, though nobody asked it to: Status and Signal are then what became of the command, not what it
	// did, and the evidence has the reason.
	Lost bool
}

// Run carries out a plan and waits for the end. The error is a [*Refusal] when nothing ran; the outcome's evidence is set in any case. When ctx ends, everything the
// command started is killed.
func Run(ctx context.Context, p *Plan, io IO) (Outcome, error) {
	r := &run{plan: p, io: io}
	out, err := r.run(ctx)
	if procRefused(err) { // nothing ran
		r = &run{plan: withBareProc(p, procCopies()), io: io}
		out, err = r.run(ctx)
	}
	err = fullRefusal(nestedRefusal(err), p)
	if out.Status == record.StatusSignaled && out.Signal == syscall.SIGKILL && r.layers.resources.oom() {
		out.Status, r.lost = record.StatusOOM, ""
	}
	out.Lost = r.lost != ""
	out.Evidence = r.evidence(err)
	return out, err
}

// run is one run of a plan.
type run struct {
	plan             *Plan
	io               IO
	layers           layers
	proc             *steps.Process
	mounts           []mount.Mount      // the plan's, with upper directories that are ours
	left             []Note             // what had to be left out
	notes            []*steps.StepError // errnos that steps tolerated
	seen             *observed          // what was read back
	usage            syscall.Rusage
	started          time.Time
	finished, reaped bool
	asked            atomic.Bool     // init was asked to end, which it does without a last message
	lost             string          // what became of init when it ended by itself without one
	opened           error           // the boundary changed while the command ran
	tamper           func(*compiled) // for tests: changes the calls before they are made
	term             *terminal
	before           *quarantine.Session // what the writable trees held when the command started
	aside            []quarantine.Finding
	watch            *watch
	names            []asideName // what was put aside by its name
	insisted         error       // why the command was ended because of names
}

func (r *run) run(ctx context.Context) (Outcome, error) {
	var err error
	if r.layers, err = prepare(ctx, r.plan); err != nil {
		return Outcome{}, err
	}
	defer r.layers.close()
	streams, cleanup, err := r.streams()
	if err != nil {
		return Outcome{}, asSetup(err)
	}
	defer cleanup()
	if err := ctx.Err(); err != nil {
		return Outcome{}, &Refusal{Code: CodeSetup, Err: err}
	}
	if err := makeInsideTraces(r.plan); err != nil {
		return Outcome{}, asSetup(err)
	}
	mounts, holds, notes := prepareCaches(r.plan)
	defer holds.close()
	r.mounts, r.left = mounts, notes
	defer r.reap()
	guard, err := takeGuard(r.plan)
	if err != nil {
		return Outcome{}, err
	}
	defer guard.close()
	if r.watch, err = takeWatch(r.plan); err != nil {
		return Outcome{}, err
	}
	defer r.watch.close()
	program := compile(r.plan, r.mounts, guard, r.watch, r.layers, streams)
	if r.tamper != nil {
		r.tamper(program)
	}
	if r.proc, err = steps.Start(&program.Program); err != nil {
		return Outcome{}, cloneRefusal(err)
	}
	stop := context.AfterFunc(ctx, func() { r.asked.Store(true); r.proc.End() })
	defer stop()
	if r.before = r.remember(ctx); r.before != nil { // while the child sets itself up
		defer r.before.Close()
	}
	out, err := r.supervise()
	if r.started.IsZero() {
		return out, err
	}
	r.names = r.watch.finish(r.before)
	if r.before != nil {
		r.aside = r.before.Finish(context.WithoutCancel(ctx))
	}
	return out, err
}

// supervise follows the child from its first step to its end. Whatever happens, nothing is alive inside when it returns, and init is dead and reaped, or has said that it
// ends: the kernel takes the mounts down while this process cleans up.
func (r *run) supervise() (Outcome, error) {
	defer func() {
		if !r.finished {
			r.reap()
		}
	}()
	defer func() { r.seen.close() }()
	defer r.layers.sockets.close()
	if err := r.confine(); err != nil {
		r.end()
		return Outcome{}, err
	}
	if err := r.watch.begin(); err != nil {
		r.end()
		return Outcome{}, err
	}
	r.started = time.Now()
	if err := r.proc.Go(); err != nil {
		r.end()
		return Outcome{}, &Refusal{Code: CodeSetup, Err: err}
	}
	r.layers.watch(r.proc.PID, func() { r.asked.Store(true); r.proc.End() })
	r.proc.Watch(int(r.seen.table.Fd()))
	r.proc.Listen(r.watch.events)
	out, err := r.follow()
	r.layers.kill()
	out.Started, out.Duration = r.started, time.Since(r.started)
	return out, err
}

// reap waits for the end of init, if it was started and has not been waited for.
func (r *run) reap() {
	if r.proc == nil || r.reaped {
		return
	}
	r.reaped = true
	if usage, err := r.proc.Wait(); err == nil {
		r.usage = usage
	}
}

// endLimit is how long init may take to end everything inside; a process that does not even die then is stuck in the kernel.
const endLimit = 10 * time.Second

// end ends everything inside: init first kills the others and cleans up, and is killed when it takes too long.
func (r *run) end() {
	r.proc.End()
	deadline := time.Now().Add(endLimit)
	for {
		event, err := r.proc.Next(deadline)
		if err != nil || event.Kind == steps.Idle {
			r.proc.Kill()
			return
		}
		if event.Kind == steps.Gone || event.Kind == steps.Exited {
			return
		}
	}
}

// setupLimit bounds the time from the clone to the confined command: a set-up that hangs, on a dead network file system say, is a failed one.
const setupLimit = 30 * time.Second

// confine waits for the confined command and for its init, and compares both with the plan. What init has built is compared while the command confines itself.
func (r *run) confine() error {
	deadline := time.Now().Add(setupLimit)
	r.seen = &observed{}
	if err := r.seen.ownNamespaces(); err != nil {
		return &Refusal{Code: CodeVerify, Err: err, Hint: procHint}
	}
	var early error
	for waiting, settled := false, false; !waiting || !settled; {
		event, err := r.proc.Next(deadline)
		if err != nil {
			return &Refusal{Code: CodeSetup, Err: err}
		}
		switch event.Kind {
		case steps.Note:
			r.note(event.Err)
		case steps.Failed:
			return stepRefusal(event.Err)
		case steps.Handed:
			r.handed(event)
		case steps.Begins:
			early = r.comparePlace(event.CommandPID)
			r.openScratch(event.CommandPID)
		case steps.Waiting:
			waiting = true
		case steps.Settled:
			settled = true
		case steps.Idle:
			return refuse(CodeSetup, "a path that hangs, such as a network file system, may be declared", "the set-up took longer than %v", setupLimit)
		case steps.Exited:
			return refuse(CodeSetup, setupKilledHint, "the set-up was killed")
		case steps.Gone:
			return refuse(CodeSetup, setupKilledHint, "the set-up was ended: %s", r.fate())
		}
	}
	if early != nil {
		return r.explain(early)
	}
	return r.explain(r.compareCommand())
}

const setupKilledHint = "it may have run out of memory, or have been killed by a seccomp filter around this process"

// explain prefers to a difference what a command that did not wait but ended says about itself: it has no state to compare.
func (r *run) explain(difference error) error {
	for difference != nil {
		event, err := r.proc.Next(time.Now())
		switch {
		case err == nil && event.Kind == steps.Note:
			r.note(event.Err)
		case err == nil && event.Kind == steps.Failed:
			return stepRefusal(event.Err)
		default:
			return difference
		}
	}
	return nil
}

// recheck compares the mount table with the plan once more. It changes from outside: when a file that something is mounted on is replaced or removed on the host, the
// kernel takes the mount away, see __detach_mounts in fs/namespace.c.
func (r *run) recheck() error {
	if err := r.seen.readTable(); err != nil {
		return err
	}
	return r.checkMounts()
}

func (r *run) note(err error) {
	var step *steps.StepError
	if errors.As(err, &step) {
		r.notes = append(r.notes, step)
	}
}
