package decide

import (
	"context"
	"errors"
	"time"

	"ethos/pkg/ceiling"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// Decider decides the actions of lines.
type Decider struct {
	Library  *Library
	Mode     string                    // decides instead of the record's trust mode; "" for the record's
	Recorded bool                      // take approval and boundary from the record: it was decided before
	Confines func(*policy.Input) error // why the call does not run inside a boundary; nil: irrelevant
	Limit    *ceiling.Ceiling          // requires a boundary, together with Confines; nil for none
	Blocked  int                       // lines that were not allowed
	approver *approver
	now      func() time.Time
}

// New returns a decider with the policies of a library. approve has the ids, of
// records or policies, that the caller approves.
func New(l *Library, approve []string, now func() time.Time) *Decider {
	return &Decider{Library: l, approver: newApprover(approve, now), now: now}
}

// Remember makes d save refusals for ethos-decide pending, and use approvals.
// Inside a boundary there is no memory, so that it does nothing there.
func (d *Decider) Remember() {
	if !trust.Inside() {
		d.approver.memory = d.Library.Memory
	}
}

// NeedsBoundary reports whether the administrator requires controls: then no
// agent's call runs without a boundary, in any mode.
func (d *Decider) NeedsBoundary() bool { return d.Limit != nil && len(d.Limit.Require) > 0 }

// Verdict is the result of deciding a line, for reporting.
type Verdict struct {
	Action   record.Action
	Actor    record.Actor
	Facts    *record.Facts
	Decision record.Decision
	ID       string // of the record
	Passable bool   // a person can allow it: ethos-decide approve
	Never    bool   // no approval can override what refuses it
}

// Approve returns the command with which a person allows the call, or "" if
// there is none.
func (v *Verdict) Approve() string {
	if !v.Passable || Allows(v.Decision.Verdict) {
		return ""
	}
	return "ethos-decide approve " + printable.Word(v.ID)
}

// Decide adds the decision to a line. It replaces an earlier decision; approval
// comes only from the command line and the memory. If the error is
// [policy.ErrNeedsCEL], the line is unchanged.
func (d *Decider) Decide(ctx context.Context, l *record.Line) (v Verdict, err error) {
	defer func() {
		if r := recover(); r == policy.ErrNeedsCEL {
			err = policy.ErrNeedsCEL
		} else if r != nil {
			panic(r)
		}
	}()
	return d.decide(ctx, l)
}

func (d *Decider) decide(ctx context.Context, l *record.Line) (Verdict, error) {
	v := Verdict{ID: l.ID()}
	began := d.now()
	in, set, err := d.Input(l)
	if err != nil {
		return v, err
	}
	var outside error
	if d.Confines != nil && in.Actor != nil {
		outside = d.Confines(&in)
		in.Actor.Confined = outside == nil
	}
	out := d.approver.decide(ctx, set, l.ID(), &in)
	v.Decision, v.Passable, v.Never = out.decision, out.passable, out.never
	if outside != nil && needBoundary(&v.Decision, &in, outside, d.NeedsBoundary()) {
		v.Passable, v.Never = false, true
	}
	v.Action, v.Facts = *in.Action, in.Facts
	if d.Confines == nil && d.Library.NeedsProof(&in) {
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
		v.Actor = *in.Actor
		if err := d.settle(l, v.Actor); err != nil {
			return v, err
		}
	}
	v.Decision.Subject, err = l.Subject()
	if err != nil && !errors.Is(err, record.ErrAbsent) {
		return v, err
	}
	if v.Decision, err = v.Decision.Sealed(); err != nil {
		return v, err
	}
	v.Decision.DurationMS = milliseconds(d.now().Sub(began))
	if v.Decision.Verdict == record.VerdictAsk || v.Decision.Verdict == record.VerdictDeny {
		d.Blocked++
	}
	return v, l.Set("decision", v.Decision)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// implied returns the pack that defines a trust mode. Safe and auto mean core
// alone, unless trust is asked for.
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
func (d *Decider) settle(l *record.Line, actor record.Actor) error {
	var was record.Actor
	if err := l.Decode("actor", &was); err != nil || was.Mode == actor.Mode && was.AdminApproved == actor.AdminApproved && was.Confined == actor.Confined {
		return err
	}
	return l.Set("actor", actor)
}

// Input returns what policies read of a line, and the policies that decide it.
func (d *Decider) Input(l *record.Line) (policy.Input, *policy.Set, error) {
	in, err := d.input(l)
	if err != nil {
		return in, nil, err
	}
	set, err := d.Library.Set(in.Action.Workspace, implied(in.Actor)...)
	if err != nil {
		return in, nil, err
	}
	see(l, set, &in)
	return in, set, nil
}

// input extracts from a line what policies read.
func (d *Decider) input(l *record.Line) (policy.Input, error) {
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
		actor.AdminApproved = actor.AdminApproved && d.Recorded
		actor.Confined = actor.Confined && d.Recorded
		if d.Mode != "" {
			actor.Mode = d.Mode
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
