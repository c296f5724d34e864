package control

import (
	"context"
	"syscall"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/kernel/steps"
	"ethos/pkg/sandbox/plan"
)

// Control is one part of the boundary, for one run. Its methods are listed in the order of a
// run's life. A control has those that do something, and the others from [defaults].
//
// They are one interface and not one each, because the runtime would look up for every
// control and every method whether there is one: this took a twentieth of a start.
type Control interface {
	// Name returns the name of the control's line in the evidence, "" if it has none.
	Name() string

	// Requested returns what the plan asks of the control, and whether it asks for it at all.
	Requested() (what string, wanted bool)

	// Prepare finds out what this machine can enforce of the plan, and acquires what that
	// needs. An error is a [*plan.Refusal].
	Prepare(ctx context.Context) error

	// Steps adds system calls to the program. It is called once for each phase.
	Steps(at Phase, p *Program)

	// Receive accepts a descriptor that the child hands over, and reports whether it is its
	// own.
	Receive(what, fd int) bool

	// Meanwhile does, while the child sets itself up, what takes time. It returns before
	// the command starts.
	Meanwhile(ctx context.Context)

	// VerifyPlace compares what init has built, as the waiting process pid sees it, with
	// the plan. It asks the kernel from outside.
	VerifyPlace(pid int) error

	// Verify compares the state of the waiting command with the plan.
	Verify(s Status) error

	// Begin acts after everything has been verified and before the command's first
	// instruction. An error is a [*plan.Refusal].
	Begin(pid int) error

	// Run starts something that lasts while the command runs.
	Run(p *steps.Process)

	// Next returns when Tend is to be called next; the zero time means never.
	Next() time.Time

	// Tend is called when a descriptor that the process listens to is readable, and when
	// the time of Next has come. A non-nil result ends the run.
	Tend() *Ending

	// Recheck is called when the mount table has changed while the command runs. A non-nil
	// result ends the run.
	Recheck() *Ending

	// Stopped is called when a signal has stopped the command.
	Stopped(sig syscall.Signal, p *steps.Process)

	sessionControl

	// End is called when the command and everything that it started have ended, or if the
	// command never started.
	End()

	// Finish examines what the command has left.
	Finish(ctx context.Context)

	// Clear removes what the run created on the host. Nothing is alive inside, but init may
	// not have been reaped yet.
	Clear()

	// Close releases what was acquired. Init has been reaped.
	Close()

	// Report changes the control's line of the evidence. It is called before the state is
	// verified as well as after Close, and states what is known then.
	Report(line record.Control) record.Control

	// Evidence adds to the evidence outside the line. enforced says that the line is
	// [Enforced].
	Evidence(e *record.Sandbox, enforced bool)

	// Measure measures the resource usage of the run better than getrusage(2) does.
	Measure(u record.Usage) record.Usage

	// Killed returns, as a status of a record, why the command was killed; "" if this
	// control did not kill it.
	Killed() string

	// Instead returns another plan for a machine that refused a run because of err, or nil
	// if there is none.
	Instead(err error) *plan.Plan

	// Hint says how to get the control where it is required and not in full force; "" is
	// no advice.
	Hint() string
}

// sessionControl are the methods that are called in a session alone.
type sessionControl interface {
	// Look examines what the commands have left so far, while none of them runs. idle means
	// that none of their processes is alive: what changes from now on, until Wake, is not
	// theirs.
	Look(ctx context.Context, idle bool) []record.Denial

	// Wake is called before the next command after an idle time. An error is a
	// [*plan.Refusal]: the session no longer matches the file system.
	Wake(ctx context.Context) error

	// Expect is told that a command will probably be requested within some milliseconds,
	// and can begin what Wake needs. It may be called while Look and Wake are.
	Expect(ctx context.Context)

	// Rest does something after a Look that found nobody alive, for which nobody should
	// have to wait. It may be called while Expect is.
	Rest()

	// Oversee is called before the first instruction of a command.
	Oversee(pid int)

	// Overseen is called once, when a command has ended. It returns what the command asked
	// for and was denied.
	Overseen(pid int) []record.Denial

	// Publish publishes ports of a running session. An error is a [*plan.Refusal].
	Publish(p plan.Published) error
}

// defaults are the methods of a control that does nothing.
type defaults struct{}

func (defaults) Name() string                               { return "" }
func (defaults) Requested() (what string, wanted bool)      { return "", false }
func (defaults) Prepare(context.Context) error              { return nil }
func (defaults) Steps(Phase, *Program)                      {}
func (defaults) Receive(what, fd int) bool                  { return false }
func (defaults) Meanwhile(context.Context)                  {}
func (defaults) VerifyPlace(int) error                      { return nil }
func (defaults) Verify(Status) error                        { return nil }
func (defaults) Begin(int) error                            { return nil }
func (defaults) Run(*steps.Process)                         {}
func (defaults) Next() time.Time                            { return time.Time{} }
func (defaults) Tend() *Ending                              { return nil }
func (defaults) Recheck() *Ending                           { return nil }
func (defaults) Stopped(syscall.Signal, *steps.Process)     {}
func (defaults) Look(context.Context, bool) []record.Denial { return nil }
func (defaults) Wake(context.Context) error                 { return nil }
func (defaults) Expect(context.Context)                     {}
func (defaults) Rest()                                      {}
func (defaults) Oversee(int)                                {}
func (defaults) Overseen(int) []record.Denial               { return nil }
func (defaults) Publish(plan.Published) error               { return nil }
func (defaults) End()                                       {}
func (defaults) Finish(context.Context)                     {}
func (defaults) Clear()                                     {}
func (defaults) Close()                                     {}
func (defaults) Report(line record.Control) record.Control  { return line }
func (defaults) Evidence(*record.Sandbox, bool)             {}
func (defaults) Measure(u record.Usage) record.Usage        { return u }
func (defaults) Killed() string                             { return "" }
func (defaults) Instead(error) *plan.Plan                   { return nil }
func (defaults) Hint() string                               { return "" }
