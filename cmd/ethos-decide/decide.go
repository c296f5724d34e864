package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

type decideCmd struct {
	policyFlags
	Approve []string                 `placeholder:"ID" sep:"none" help:"Approve one record by its id, or all that a policy asks about by the policy's id."`
	Mode    string                   `enum:",plan,safe,auto,verify" default:"" placeholder:"MODE" help:"Decide under this trust mode instead of the record's: plan, verify, safe or auto. Default: ETHOS_MODE."`
	Reply   string                   `placeholder:"AGENT" help:"Answer the agent's hook protocol instead of writing records: ${dialects}."`
	Confine cli.Choice               `help:"With --reply: rewrite an allowed shell call to run inside ethos-sandbox, if the agent accepts a rewritten call. =ask and =allow set whether Claude Code asks the person first; by default it asks unless questions are turned off. =no: calls run outside, also in auto mode."`
	Session string                   `placeholder:"auto|NAME" help:"With --confine: run the call in the boundary of this session of ethos-sandbox; auto uses one for each session of the agent."`
	Tree    bool                     `help:"With --confine: record the content of the work space before and after each recorded call, for ethos-trace prove. Not in a session."`
	Records string                   `placeholder:"FILE|fd:N" help:"With --reply: append the decided records to a file or descriptor instead of the store."`
	NoStore bool                     `help:"With --reply: keep no record. By default records go into the store, $$ETHOS_STORE or .git/coding-ethos/traces of the work space."`
	Quiet   bool                     `short:"q" help:"Write nothing; only set the exit status."`
	MaxLine int                      `default:"1048576" placeholder:"BYTES" help:"Longest line to read, in bytes."`
	needed  func(*policy.Input) bool // reports whether the workspace needs the call proven
	handed  handed                   // by the program that decides without CEL
}

// Run implements the command.
func (c *decideCmd) Run(ctx context.Context, sys *cli.System) error {
	if err := c.Confine.Check("--confine", confineAsk, confineAllow, confineNo); err != nil {
		return err
	}
	if err := c.checkSession(); err != nil {
		return err
	}
	if c.Reply != "" {
		return c.reply(ctx, sys)
	}
	if c.Records != "" {
		return cli.Errorf(cli.Usage, "without --reply the records are on standard output", "--records needs --reply")
	}
	if c.NoStore {
		return cli.Errorf(cli.Usage, "without --reply the records are on standard output; ethos-trace stores them", "--no-store needs --reply")
	}
	if c.Confine != "" {
		return cli.Errorf(cli.Usage, "without --reply, ethos-sandbox runs what is allowed", "--confine needs --reply")
	}
	for _, name := range c.Pack {
		if err := policy.KnownPack(name); err != nil {
			return badPolicy(err)
		}
	}
	d, err := c.remembering(sys)
	if err != nil {
		return err
	}
	d.blocked = c.handed.Blocked
	d.library.said(c.handed.Told)
	out := sys.Records()
	if c.Quiet {
		out = io.Discard
	}
	filter := record.Filter{Stage: "decide", MaxLine: c.MaxLine, Facts: true, In: c.handed.input(sys.Stdin), Out: out, Now: sys.Now, Past: c.handed.Past}
	c.handsOver(ctx, sys, &filter, d)
	people := watchedBy(sys)
	sys.Waits("records", "ethos-facts -- COMMAND | ethos-decide")
	tally, err := filter.Run(ctx, func(l *record.Line) error {
		decided, err := d.decide(ctx, l)
		if err == nil && !c.Quiet {
			people.tell(decided)
			d.library.tell(sys, decided.decision)
		}
		return err
	})
	if err != nil {
		return err
	}
	d.approver.warn(sys)
	if tally.Made > 0 {
		sys.Fail(fmt.Sprintf("%d of %d lines of standard input are not records: their error lines on standard output say why", tally.Made, tally.Lines), "ethos-facts makes records: ethos-facts -- COMMAND | ethos-decide")
	}
	if before := tally.Bad - tally.Made; before > 0 {
		sys.Fail(fmt.Sprintf("%d of %d lines of standard input are errors of an earlier stage, and were passed on undecided", before, tally.Lines), "fix what that stage reports")
	}
	return d.status(tally)
}

// decider decides lines.
type decider struct {
	library  *library
	mode     string
	approver *approver
	recorded bool                      // take approval and boundary from the record: it was decided before
	confines func(*policy.Input) error // why the answer does not put the call inside a boundary; nil: irrelevant
	limit    *ceiling.Ceiling          // of the machine, with --reply; nil for none
	blocked  int
	now      func() time.Time
}

// needsBoundary reports whether the administrator requires controls: then no agent's call runs
// without a boundary, in any mode.
func (d *decider) needsBoundary() bool { return d.limit != nil && len(d.limit.Require) > 0 }

func (c *decideCmd) decider(sys *cli.System) (*decider, error) {
	mode, err := record.ModeGiven(c.Mode, sys.Getenv)
	if err != nil {
		return nil, cli.Errorf(cli.Usage, record.ModeHint, "%w", err)
	}
	return &decider{library: newLibrary(c.policyFlags, sys), mode: mode, approver: newApprover(c.Approve, nil, sys.Now), now: sys.Now}, nil
}

// remembering returns a decider that saves refusals for ethos-decide pending and uses approvals.
// Inside a boundary there is no memory.
func (c *decideCmd) remembering(sys *cli.System) (*decider, error) {
	d, err := c.decider(sys)
	if err == nil && !trust.Inside(os.DirFS("/proc")) {
		d.approver.memory = d.library.memory
	}
	return d, err
}

// verdict is the result of deciding a line, for reporting.
type verdict struct {
	action   record.Action
	actor    record.Actor
	facts    *record.Facts
	decision record.Decision
	id       string // of the record
	passable bool   // a person can allow it: ethos-decide approve
	never    bool   // no approval can override what refuses it
}

// decide adds the decision to a line. It replaces an earlier decision; approval comes only from the
// command line and the memory.
func (d *decider) decide(ctx context.Context, l *record.Line) (verdict, error) {
	v := verdict{id: l.ID()}
	began := d.now()
	in, err := d.input(l)
	if err != nil {
		return v, err
	}
	set, err := d.library.set(in.Action.Workspace, implied(in.Actor)...)
	if err != nil {
		return v, err
	}
	see(l, set, &in)
	var outside error
	if d.confines != nil && in.Actor != nil {
		outside = d.confines(&in)
		in.Actor.Confined = outside == nil
	}
	out := d.approver.decide(ctx, set, l.ID(), &in)
	v.decision, v.passable, v.never = out.decision, out.passable, out.never
	if outside != nil && needBoundary(&v.decision, &in, outside, d.needsBoundary()) {
		v.passable, v.never = false, true
	}
	v.action, v.facts = *in.Action, in.Facts
	if d.confines == nil && d.library.needs(&in) {
		if err := l.Set("tree", true); err != nil { // ethos-sandbox records the content
			return v, err
		}
	}
	if out.facts != nil {
		if err := l.Set("facts", out.facts); err != nil {
			return v, err
		}
	}
	if in.Actor != nil {
		v.actor = *in.Actor
		if err := d.settle(l, v.actor); err != nil {
			return v, err
		}
	}
	v.decision.Subject, err = l.Subject()
	if err != nil && !errors.Is(err, record.ErrAbsent) {
		return v, err
	}
	if v.decision, err = v.decision.Sealed(); err != nil {
		return v, err
	}
	v.decision.DurationMS = milliseconds(d.now().Sub(began))
	if v.decision.Verdict == record.VerdictAsk || v.decision.Verdict == record.VerdictDeny {
		d.blocked++
	}
	return v, l.Set("decision", v.decision)
}

// milliseconds returns d in milliseconds, to whole microseconds.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// implied returns the pack that defines a trust mode. Safe and auto mean core alone, unless trust
// is asked for.
func implied(actor *record.Actor) []string {
	switch {
	case actor != nil && actor.Mode == record.ModePlan:
		return []string{"trust"}
	case actor != nil && actor.Mode == record.ModeVerify:
		return []string{"verify"}
	}
	return nil
}

// settle updates the actor in the line if it was changed for the decision.
func (d *decider) settle(l *record.Line, actor record.Actor) error {
	var was record.Actor
	if err := l.Decode("actor", &was); err != nil || was.Mode == actor.Mode && was.AdminApproved == actor.AdminApproved && was.Confined == actor.Confined {
		return err
	}
	return l.Set("actor", actor)
}

// input extracts from a line what policies read.
func (d *decider) input(l *record.Line) (policy.Input, error) {
	var (
		action record.Action
		actor  record.Actor
		facts  record.Facts
		in     = policy.Input{Action: &action}
	)
	if err := l.Decode("action", &action); err != nil {
		return in, err
	}
	switch err := l.Decode("actor", &actor); {
	case err == nil:
		actor.AdminApproved = actor.AdminApproved && d.recorded
		actor.Confined = actor.Confined && d.recorded
		if d.mode != "" {
			actor.Mode = d.mode
		}
		actor = actor.Bounded()
		in.Actor = &actor
	case !errors.Is(err, record.ErrAbsent):
		return in, err
	}
	switch err := l.Decode("facts", &facts); {
	case err == nil:
		in.Facts = &facts
	case !errors.Is(err, record.ErrAbsent):
		return in, err
	}
	return in, nil
}

// status returns the exit status of the plain form.
func (d *decider) status(tally record.Tally) error {
	switch {
	case tally.Bad > 0:
		return cli.Exit(cli.BadInput)
	case d.blocked > 0:
		return cli.Negative
	}
	return nil
}
