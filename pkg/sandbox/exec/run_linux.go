package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Run carries out a plan and waits until it ends. The error is a [*plan.Refusal] if nothing ran; the outcome's
// evidence is set in any case. When ctx ends, everything that the command started is killed.
func Run(ctx context.Context, p *plan.Plan, io IO) (Outcome, error) {
	return (&Runner{Plan: p, IO: io}).Run(ctx)
}

// ReadAhead begins to read what the next run needs to know of the machine, while that is planned.
func ReadAhead() { control.ReadAhead() }

// Release frees what is kept between runs, and what was made for one that does not come. No run may be in progress.
func Release() {
	control.Release()
	steps.Discard()
}

// Runner is one run of a plan. Tamper is for tests: it changes the calls before they are made.
type Runner struct {
	Plan   *plan.Plan
	IO     IO
	Tamper func(*steps.Program)
	hooks  hooks
}

// hooks are called while a session runs; each may be nil.
type hooks struct {
	began func(*run) // the confined process may begin
	ends  func()     // everything inside has ended; before what it left is examined and init is waited for
}

// Run carries out the plan; see [Run].
func (x *Runner) Run(ctx context.Context) (Outcome, error) {
	if x.Plan.Backend == plan.Seatbelt {
		return thisMac.run(ctx, x.Plan, x.IO)
	}
	if err := hasFilters(runtime.GOARCH); err != nil {
		return nothingRan(x.Plan, err)
	}
	r := x.newRun(x.Plan)
	out, err := r.run(ctx)
	for _, f := range r.controls {
		if other := f.Instead(err); err != nil && other != nil { // nothing ran
			r = x.newRun(other)
			out, err = r.run(ctx)
			break
		}
	}
	err = control.CausedRefusal(control.NestedRefusal(err), r.job.Plan)
	if out.Status == record.StatusSignaled && out.Signal == syscall.SIGKILL {
		for _, k := range r.controls {
			if status := k.Killed(); status != "" {
				out.Status, r.lost = status, ""
			}
		}
	}
	out.Lost = r.lost != ""
	out.Evidence = r.evidence(err)
	out.Writes, out.Changes = r.job.Writes, r.job.Changes
	return out, err
}

// run is one attempt at a plan.
type run struct {
	job              *control.Job
	controls         []control.Control
	proc             *steps.Process
	pid              int // of the confined process, as numbered outside
	usage            syscall.Rusage
	started          time.Time
	began            bool // hooks.began was called
	finished, reaped bool
	asked            atomic.Bool // init was asked to end, so it sends no last message
	lost             string      // what became of init if it ended by itself without one
	ending           *control.Ending
	tamper           func(*steps.Program)
	hooks            hooks
}

// mutate removes a step, in a build that checks whether the tests notice.
var mutate func(*steps.Program)

func (x *Runner) newRun(p *plan.Plan) *run {
	r := &run{job: &control.Job{Plan: p, IO: x.IO, Mounts: slices.Clone(p.Mounts), Spawns: x.hooks.began != nil}, tamper: x.Tamper, hooks: x.hooks}
	r.job.Stop = func() {
		r.asked.Store(true)
		r.proc.End()
	}
	r.job.RecheckAll = r.recheck
	r.controls = control.New(r.job)
	return r
}

// Compile prepares a run without starting it. It returns the calls and a function that releases what they use.
func (x *Runner) Compile(ctx context.Context) (*control.Program, func(), error) {
	r := x.newRun(x.Plan)
	program, err := r.prepare(ctx)
	if err != nil {
		r.release()
		return nil, nil, err
	}
	return program, r.release, nil
}

// release releases what was acquired, when init is gone.
func (r *run) release() {
	for _, c := range slices.Backward(r.controls) {
		c.Clear()
	}
	r.reap()
	r.job.Dismantled()
	for _, c := range slices.Backward(r.controls) {
		c.Close()
	}
}

// prepare makes the controls acquire what they need, and prepares every call.
func (r *run) prepare(ctx context.Context) (*control.Program, error) {
	for _, c := range r.controls {
		if err := c.Prepare(ctx); err != nil {
			return nil, plan.AsSetup(err)
		}
		if err := ctx.Err(); err != nil {
			return nil, &plan.Refusal{Code: plan.CodeSetup, Err: err}
		}
	}
	program := control.Compile(r.job, r.controls)
	for _, change := range []func(*steps.Program){mutate, r.tamper} {
		if change != nil {
			change(&program.Program)
		}
	}
	return program, nil
}

func (r *run) run(ctx context.Context) (Outcome, error) {
	defer r.release()
	program, err := r.prepare(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if r.proc, err = steps.Start(&program.Program); err != nil {
		return Outcome{}, control.CloneRefusal(err)
	}
	stop := context.AfterFunc(ctx, r.job.Stop)
	defer stop()
	for _, c := range r.controls {
		c.Meanwhile(ctx)
	}
	out, err := r.supervise()
	if !r.started.IsZero() {
		for _, c := range r.controls {
			c.Finish(ctx)
		}
	}
	return out, err
}

// supervise follows the child from its first step to its end. When it returns, nothing is alive inside, and init is
// dead and reaped or has announced its end: the kernel then removes the mounts while this process cleans up.
func (r *run) supervise() (Outcome, error) {
	defer func() {
		r.ends()
		for _, c := range slices.Backward(r.controls) {
			c.End()
		}
		r.job.Dismantle()
		if !r.finished {
			r.reap()
		}
	}()
	if err := r.announced(r.confine()); err != nil {
		r.end()
		return Outcome{}, err
	}
	r.started = time.Now()
	if err := r.proc.Go(); err != nil {
		r.end()
		return Outcome{}, &plan.Refusal{Code: plan.CodeSetup, Err: err}
	}
	for _, c := range r.controls {
		c.Run(r.proc)
	}
	if r.hooks.began != nil {
		r.began = true
		r.hooks.began(r)
	}
	out, err := r.follow()
	r.job.Failed = err == nil && !r.job.Spawns && (out.Status != record.StatusExited || out.ExitCode != 0)
	out.Started, out.Duration = r.started, time.Since(r.started)
	return out, err
}

// ends tells the user of the run's process that the process is gone. It may be called repeatedly. It does nothing for
// an attempt that did not begin.
func (r *run) ends() {
	if r.began {
		r.hooks.ends()
	}
}

// reap waits for the end of init, if it was started and has not been waited for.
func (r *run) reap() {
	if r.proc == nil || r.reaped {
		return
	}
	r.reaped = true
	r.ends()
	if usage, err := r.proc.Wait(); err == nil {
		r.usage = usage
	}
}

// endLimit is how long init may take to end everything inside. A process that survives it is stuck in the kernel.
const endLimit = 10 * time.Second

// end ends everything inside: init kills the others and cleans up, or is killed if that takes too long.
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

// setupLimit bounds the time from the clone to the confined command, as for a dead network file system.
const setupLimit = 30 * time.Second

// confine waits for the confined command and for its init, and has both compared with the plan. What init has built
// is compared while the command confines itself.
func (r *run) confine() error {
	deadline := time.Now().Add(setupLimit)
	var early error
	pid := 0
	for waiting, finalized := false, false; !waiting || !finalized; {
		event, err := r.proc.Next(deadline)
		if err != nil {
			return &plan.Refusal{Code: plan.CodeSetup, Err: err}
		}
		switch event.Kind {
		case steps.Note:
			r.note(event.Err)
		case steps.Failed:
			return control.StepRefusal(event.Err, r.job.Plan.Argv)
		case steps.Handed:
			r.receive(event)
		case steps.Begins:
			pid, r.pid = event.CommandPID, event.CommandPID
			early = r.verifyPlace(pid)
		case steps.Waiting:
			waiting = true
		case steps.Finalized:
			finalized = true
		case steps.Idle:
			return plan.Refuse(plan.CodeSetup, "a declared path may hang, such as one on a network file system", "the set-up took longer than %v", setupLimit)
		case steps.Exited:
			return plan.Refuse(plan.CodeSetup, setupKilledHint, "the set-up was killed")
		case steps.Gone:
			return plan.Refuse(plan.CodeSetup, setupKilledHint, "the set-up ended early: %s", r.fate())
		}
	}
	if early != nil {
		return r.explain(early)
	}
	return r.explain(r.verify(pid))
}

const setupKilledHint = "it may have run out of memory, or have been killed by a seccomp filter around this process"

// explain replaces a difference by the error of a command that failed, because it has no state to compare.
func (r *run) explain(difference error) error {
	for difference != nil {
		event, err := r.proc.Next(time.Now())
		switch {
		case err == nil && event.Kind == steps.Note:
			r.note(event.Err)
		case err == nil && event.Kind == steps.Failed:
			return control.StepRefusal(event.Err, r.job.Plan.Argv)
		default:
			return difference
		}
	}
	return nil
}

// verifyPlace compares what init has built with the plan. A difference is a refusal, because something that was
// requested is not in force.
func (r *run) verifyPlace(pid int) error {
	if pid <= 0 {
		return control.Unreadable(errors.New("the confined process has no pid in this PID namespace"))
	}
	for _, c := range r.controls {
		if err := c.VerifyPlace(pid); err != nil {
			return different(err)
		}
	}
	return nil
}

// verify compares the confined command with the plan, and prepares for its first instruction.
func (r *run) verify(pid int) error {
	status, err := control.ReadStatus(pid)
	if err != nil {
		return err
	}
	for _, c := range r.controls {
		if err := c.Verify(status); err != nil {
			return different(err)
		}
	}
	r.job.Verified = true
	for _, c := range r.controls {
		if err := c.Begin(pid); err != nil {
			return err
		}
	}
	return r.required()
}

func different(err error) error {
	if _, ok := err.(*plan.Refusal); ok {
		return err
	}
	return &plan.Refusal{Code: plan.CodeVerify, Err: fmt.Errorf("verify: %w", err), Hint: "the kernel accepted every call but reports another state; please report it with the output of ethos-sandbox probe --json"}
}

// receive passes a descriptor of the child to the control that expects it.
func (r *run) receive(event steps.Event) {
	for _, c := range r.controls {
		if c.Receive(event.What, event.FD) {
			return
		}
	}
	unix.Close(event.FD)
}

func (r *run) note(err error) {
	var step *steps.StepError
	if errors.As(err, &step) {
		r.job.Notes = append(r.job.Notes, step)
	}
}
