package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/nospace"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/signals"
)

type runCmd struct {
	boundary.Flags
	backendFlags
	evidenceFlags
	sessionFlags
	viewFlags
	parentFlags
	callerFlags
	Fd    []int         `placeholder:"N" help:"Pass an inherited descriptor above 2 on to the command."`
	Prove time.Duration `placeholder:"DURATION" help:"If the command fails for lack of a grant, find the smallest one that lets it pass: run it again for up to this long, such as 2m, without network, in views that are thrown away."`
	Argv  cli.Argv      `arg:"" passthrough:"" name:"argv" help:"The command and its arguments, after --."`
}

// evidenceFlags are the flags of run and shell other than those of the boundary.
type evidenceFlags struct {
	Evidence string `placeholder:"FILE|fd:N" help:"Write the result, with the evidence of each control and connection, as JSON."`
	DryRun   bool   `help:"Show the plan; run nothing."`
	Explain  bool   `help:"Observe what the command asks for by name; report what it could not get inside, and what would allow it."`
	record   *recorded
	// unrecorded says that the call comes from an agent's hook that keeps no record.
	unrecorded bool
	tree       *watch                 // of the workspace, with --tree
	asked      *record.Asked          // for --evidence
	narrowed   []string               // for --evidence: see [record.Sandbox]
	ran        *sandbox.Outcome       // how the command ended, once it has
	proof      func(*sandbox.Outcome) // finds the smallest grant if the command failed; may be nil
}

// Kind says that the status is that of the command.
func (*runCmd) Kind() cli.Kind { return cli.Runner }

// Run runs the command with this process's own streams.
func (c *runCmd) Run(ctx context.Context, sys *cli.System) error {
	defer sandbox.Release()
	argv, err := behindDashes(c.Argv, cli.Refused)
	if err != nil {
		return err
	}
	c.record = c.recordOf(sys, record.Action{Kind: record.KindExec, Argv: argv})
	if c.Session != "" && len(argv) > 0 {
		if err := cmp.Or(c.viewFlags.alone(), c.callerFlags.alone()); err != nil {
			return err
		}
		if c.Parent != "" {
			return withSession()
		}
		if err := c.backendFlags.alone(); err != nil {
			return err
		}
		if len(c.Fd) > 0 {
			return cli.Errorf(cli.Refused, "omit --session, or pass a file by its name", "--fd cannot be used with --session")
		}
		if c.Prove != 0 {
			return cli.Errorf(cli.Refused, "omit --session", "--prove cannot be used with --session, because other commands have changed what is inside")
		}
		j := joining{word: c.Session, flags: c.Flags, given: c.Flags, plainGit: true, argv: argv, evidence: &c.evidenceFlags}
		return j.run(ctx, sys)
	}
	spec, err := specNow(sys, &c.Flags, argv)
	if err != nil {
		return err
	}
	spec.Descriptors, spec.Backend = c.Fd, c.Backend
	if err := c.within(sys, &c.Flags, &spec, false); err != nil {
		return err
	}
	if c.Prove != 0 {
		if c.Parent != "" {
			return cli.Errorf(cli.Refused, "omit --prove or --parent", "--prove tries to grant more, and --parent does not allow more")
		}
		c.Explain, c.proof = true, proveFailed(ctx, sys, spec, c.Prove)
	}
	return runSpec(ctx, sys, spec, &c.evidenceFlags, &c.viewFlags, &c.callerFlags)
}

func specNow(sys *cli.System, b *boundary.Flags, argv []string) (sandbox.Spec, error) {
	if len(argv) == 0 {
		return sandbox.Spec{}, cli.Errorf(cli.Refused, "write the command after --: ethos-sandbox run -- ls", "no command was given")
	}
	spec, err := specOfFlags(sys, b, argv)
	if err != nil {
		return spec, cli.Errorf(cli.Refused, "ethos-sandbox run --help shows the flags", "%w", err)
	}
	return spec, nil
}

// runSpec runs one command with this process's own streams, or shows what would be done.
func runSpec(ctx context.Context, sys *cli.System, spec sandbox.Spec, e *evidenceFlags, v *viewFlags, c *callerFlags) error {
	if err := v.check(); err != nil {
		return err
	}
	if inOuter(&spec); spec.Backend != sandbox.Outer {
		if err := handOver(ctx, sys, &spec); err != nil {
			return err
		}
	} else if v.Tree {
		return cli.Errorf(cli.Refused, sandbox.OuterHint, "not available in the boundary of another ethos-sandbox: --tree, because such a run proves nothing")
	}
	if v.Tree && e.Evidence == "" && e.record == nil {
		return cli.Errorf(cli.Refused, "name a file with --evidence, or go through the pipe: ethos-facts -- COMMAND | ethos-decide | ethos-sandbox --tree | ethos-trace", "--tree adds to the recorded result, and nothing records the result")
	}
	e.DryRun = e.DryRun || v.Mode == record.ModePlan
	if v.views() {
		spec.View = capability.CopyOnWrite
	}
	began, err := c.begin()
	if err != nil {
		return err
	}
	caught := catch()
	sandbox.ReadAhead()
	plan, evidence, err := e.ready(ctx, sys, spec)
	if err != nil || plan == nil {
		return err
	}
	if err := v.apart(sys, plan); err != nil {
		return err
	}
	if v.Tree {
		e.tree = watchTree(ctx, sys, plan, e.record.key())
	}
	who, err := e.asker()
	defer remember(sys, reach(plan), writable(plan), plan.Dir, who, err)()
	ended := e.pass(ctx, sys, plan, evidence, caught, began)
	return v.settle(ctx, sys, plan, e.ran, ended)
}

// ready makes the plan for a spec and opens the destination of the evidence. With --dry-run it
// shows the plan and returns none.
func (e *evidenceFlags) ready(ctx context.Context, sys *cli.System, spec sandbox.Spec) (*sandbox.Plan, io.WriteCloser, error) {
	spec.Explain = e.Explain
	if e.Evidence != "" {
		e.asked = askedOfRun(sys, &spec)
	}
	if !e.DryRun {
		spec.Recovered = recoverRuns(ctx, sys)
	}
	plan, err := build(sys, spec, cli.Refused)
	if err != nil {
		return nil, nil, e.refusal(ctx, err)
	}
	if says, way := weaker(plan.Backend, os.Geteuid()); says != "" {
		sys.Warn(says, way)
	}
	if e.DryRun {
		return nil, nil, sys.Print(plan.Text())
	}
	if plan.OwnSandbox != "" {
		sys.Warn("the agent cannot create its own sandbox inside of this one: its commands would fail", plan.OwnSandbox)
	}
	evidence, err := e.open(ctx)
	if err != nil {
		return nil, nil, cli.Errorf(cli.Refused, "name a writable file, or fd:N of an open descriptor", "evidence: %w", err)
	}
	return plan, evidence, nil
}

// refusal writes to the evidence that nothing ran.
func (e *evidenceFlags) refusal(ctx context.Context, err error) error {
	if e.DryRun {
		return err
	}
	to, fault := e.open(ctx)
	if fault == nil {
		fault = report(to, sandbox.Outcome{Evidence: sandbox.NoEvidence()}, err, nil)
	}
	if fault != nil {
		return errors.Join(err, fmt.Errorf("evidence: %w", fault))
	}
	return err
}

func catch() <-chan os.Signal {
	caught := make(chan os.Signal, 16)
	signals.Notify(caught, sandbox.Forwarded()...)
	return caught
}

// pass runs a plan with the streams of this process, and ends as the command ended. began may be
// nil: see [sandbox.IO]. Until the start, signals are caught.
func (e *evidenceFlags) pass(ctx context.Context, sys *cli.System, plan *sandbox.Plan, evidence io.WriteCloser, signals <-chan os.Signal, began func(pid int) error) error {
	streams, err := streams(sys)
	if err != nil {
		return err
	}
	streams.Signals, streams.Began, streams.Unread = signals, began, evidence == nil
	refusals := &refusals{sys: sys}
	streams.Refused = refusals.tell
	if err := ctx.Err(); err != nil { // a signal came before it could be passed on: nothing has run
		return err
	}
	said := written(streams.Stderr)
	out, err := sandbox.Run(context.WithoutCancel(ctx), plan, streams)
	sandbox.Release()
	refusals.end()
	if err == nil {
		e.ran = &out
		sandbox.Explain(plan, &out, sandbox.Failed{Argv: plan.Argv, Output: said()})
		if e.proof != nil {
			e.proof(&out)
		}
	}
	out.Evidence.Asked, out.Evidence.Narrowed = e.asked, e.narrowed
	if fault := reported(evidence, signals, func() error { return report(evidence, out, err, e.tree) }); fault != nil {
		sys.Warn(fmt.Sprintf("evidence: %v", fault), cmp.Or(nospace.Hint(fault, ""), "the command ran; its evidence is lost"))
	}
	if err != nil {
		return refused(err, cli.Refused)
	}
	agents, _ := evidence.(*recorded)
	out.Evidence.Denials = agents.waysOut(out.Evidence.Denials)
	warnDenied(sys, plan, out)
	return ended(plan, out)
}

// recoverRuns checks runs that were killed, and reports what they left. It runs before planning,
// which would take those files for the user's.
func recoverRuns(ctx context.Context, sys *cli.System) []record.Denial {
	left := sandbox.Recover(ctx, sys.Environ)
	warn(sys, left)
	return left
}

func streams(sys *cli.System) (sandbox.IO, error) {
	in, ok1 := sys.Stdin.(*os.File)
	out, ok2 := sys.Stdout.(*os.File)
	errs, ok3 := sys.Stderr.(*os.File)
	if !ok1 || !ok2 || !ok3 {
		return sandbox.IO{}, errors.New("the standard streams are not descriptors")
	}
	return sandbox.IO{Stdin: in, Stdout: out, Stderr: errs}, nil
}

// ended makes this process end as the command did.
func ended(plan *sandbox.Plan, out sandbox.Outcome) error {
	switch out.Status {
	case record.StatusTimeout:
		return cli.Errorf(cli.Timeout, sandbox.TimeHint(plan.Limits.Timeout, plan.MostTime), "%s: killed at the time limit of %v", plan.Argv[0], plan.Limits.Timeout)
	case record.StatusOOM:
		return cli.Errorf(cli.SignalBase+cli.Status(syscall.SIGKILL), sandbox.MemoryHint(plan.Limits.MemoryBytes, plan.MostMemory), "%s: killed at the memory limit of %d bytes", plan.Argv[0], plan.Limits.MemoryBytes)
	case record.StatusSignaled:
		if out.Lost {
			return cli.Errorf(cli.SignalBase+cli.Status(out.Signal), "everything it started is dead; if nobody killed it, look in the kernel's log (dmesg) for an out-of-memory kill", "%s: %s", plan.Argv[0], out.Evidence.Reason)
		}
		if out.Evidence.Reason != "" {
			return cli.Errorf(cli.SignalBase+cli.Status(out.Signal), "start it again, and do not change the protected files of its work space while it runs", "%s: %s", plan.Argv[0], out.Evidence.Reason)
		}
	}
	if status := out.ExitStatus(); status != 0 {
		return cli.Exit(status)
	}
	return nil
}
