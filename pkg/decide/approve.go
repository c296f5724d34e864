package decide

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// approver allows calls that a user approved, with --approve or with
// `ethos-decide approve` in the memory.
type approver struct {
	options map[string]bool // ids from --approve, of records or policies, and whether each was used
	never   []string        // policies named by --approve that no approval can override
	memory  *trust.Memory   // nil: nothing is saved or looked up
	failed  []error         // approvals that were found invalid
	now     func() time.Time
}

// maxNamed limits the action that is saved with a refusal, in bytes of JSON.
const maxNamed = 8 << 10

func newApprover(ids []string, now func() time.Time) *approver {
	a := &approver{options: map[string]bool{}, now: now}
	for _, id := range ids {
		a.options[id] = false
	}
	return a
}

// outcome is a decision, with the parts of the record that an approval changed.
type outcome struct {
	decision record.Decision
	facts    *record.Facts // with granted capabilities; nil: unchanged
	passable bool          // a person can approve the call: [trust.Memory.Note] has it
	never    bool          // no approval can override what refuses it
}

// decide decides a record and applies the approvals. An approved record has
// admin_approved set, the approved policies overridden, and the grants that the
// call needs.
func (a *approver) decide(ctx context.Context, set *policy.Set, id string, in *policy.Input) outcome {
	first := outcome{decision: set.Decide(ctx, *in)}
	if in.Actor == nil || in.Facts == nil {
		return first
	}
	if in.Actor.AdminApproved { // as recorded
		return outcome{decision: set.Approved(first.decision, nil)}
	}
	standing, never := set.Blocking(&first.decision)
	needs := policy.Needs(in)
	if len(standing)+len(never) == 0 && (len(needs) == 0 || !in.Facts.Tool.Capabilities.RequiresNetwork) {
		return first
	}
	if approval := a.approval(id, standing, never, needs, in); approval != nil {
		return a.apply(ctx, set, in, first, approval)
	}
	first.never = len(never) > 0
	first.passable = a.note(id, &first.decision, standing, never, needs, in) && len(never) == 0
	return first
}

// approval returns the approval for a call, or nil.
func (a *approver) approval(id string, standing, never, needs []string, in *policy.Input) *record.Approval {
	if given := a.given(id, standing, never); given != nil {
		given.Grants = needs
		return given
	}
	if len(never) > 0 || a.memory == nil {
		return nil
	}
	call, err := trust.CallOf(*in.Action, *in.Actor, in.Facts)
	if err != nil {
		return nil
	}
	kept, err := a.memory.Take(call, in.Action.Workspace)
	switch {
	case err != nil:
		a.failed = append(a.failed, err)
		return nil
	case kept == nil || slices.ContainsFunc(standing, func(p string) bool { return !slices.Contains(kept.Policies, p) }):
		return nil
	}
	covers := "once"
	if kept.Session {
		covers = "session"
	}
	return &record.Approval{ID: kept.ID, By: kept.By, Time: kept.Time.Format(time.RFC3339), Covers: covers, Policies: standing, Grants: kept.Grants}
}

// given returns the approval from --approve, for the record or for every policy
// that refuses it.
func (a *approver) given(id string, standing, never []string) *record.Approval {
	if len(a.options) == 0 || len(standing) == 0 {
		return nil
	}
	_, whole := a.options[id]
	if !whole && slices.ContainsFunc(standing, func(p string) bool { _, ok := a.options[p]; return !ok }) {
		for _, p := range never {
			if _, ok := a.options[p]; ok {
				a.never = append(a.never, p)
			}
		}
		return nil
	}
	if len(never) > 0 {
		a.never = append(a.never, never...)
		return nil
	}
	approval := &record.Approval{By: "--approve", Time: a.now().UTC().Format(time.RFC3339), Covers: "always", Policies: standing}
	if whole {
		a.options[id] = true
		approval.ID = id
	}
	for _, p := range standing {
		if _, ok := a.options[p]; ok {
			a.options[p] = true
		}
	}
	return approval
}

// apply decides again with the approval. What still refuses the call then is
// final.
func (a *approver) apply(ctx context.Context, set *policy.Set, in *policy.Input, first outcome, approval *record.Approval) outcome {
	facts := *in.Facts
	approval.Policies = append([]string{}, approval.Policies...) // lists of a record are never null
	approval.Grants = append([]string{}, approval.Grants...)
	granted, err := grant(facts.Capabilities, approval)
	if err != nil {
		a.failed = append(a.failed, err)
		return first
	}
	facts.Capabilities = granted
	actor := *in.Actor
	actor.AdminApproved = true
	approved := policy.Input{Action: in.Action, Actor: &actor, Facts: &facts}
	d := set.Approved(set.Decide(ctx, approved), approval.Policies)
	if !Allows(d.Verdict) {
		return first
	}
	d.Approval = approval
	in.Actor, in.Facts = &actor, &facts
	if len(approval.Grants) == 0 {
		return outcome{decision: d}
	}
	return outcome{decision: d, facts: &facts}
}

// grant adds the capabilities of an approval, and names the approval as their
// source in GrantedBy.
func grant(have record.Capabilities, approval *record.Approval) (record.Capabilities, error) {
	network := &have.Network
	network.AllowDomains, have.GrantedBy = slices.Clone(network.AllowDomains), slices.Clone(have.GrantedBy)
	if len(approval.Grants) > 0 && network.Mode != "proxy" {
		network.AllowDomains = nil // they had no effect before
	}
	before := slices.Clone(have.GrantedBy)
	for _, g := range approval.Grants {
		if err := capability.Grant(&have, g); err != nil {
			return have, err
		}
	}
	have.GrantedBy = before
	if len(approval.Grants) > 0 {
		have.GrantedBy = append(have.GrantedBy, "ethos-decide approve")
	}
	return have, nil
}

// note saves a call so that a person finds it, and reports whether that
// succeeded.
func (a *approver) note(id string, d *record.Decision, standing, never, needs []string, in *policy.Input) bool {
	if a.memory == nil || id == "" {
		return false
	}
	call, err := trust.CallOf(*in.Action, *in.Actor, in.Facts)
	if err != nil {
		return false
	}
	action := *in.Action
	action.Input = nil
	named := &action
	if text, err := json.Marshal(action); err != nil || len(text) > maxNamed {
		named = nil
	}
	return a.memory.Note(trust.Refused{
		Action: named,
		ID:     id, Call: call, Agent: in.Actor.Agent, Session: in.Actor.Session, Cwd: in.Action.Cwd, Workspace: in.Action.Workspace,
		Command: commandOf(in.Action), Verdict: d.Verdict, Policies: standing, Never: never, Grants: needs,
	}, a.now()) == nil
}

// Warning is a message with its remedy.
type Warning struct{ Message, Hint string }

// Warnings reports approvals without effect: a mistyped id, or a policy that no
// approval can override.
func (d *Decider) Warnings() (list []Warning) {
	a := d.approver
	slices.Sort(a.never)
	for _, id := range slices.Compact(a.never) {
		list = append(list, Warning{"no approval exists for " + id + ": no approval overrides it", "its remedy says what is allowed instead"})
	}
	var ids []string
	for id, used := range a.options {
		if !used && !slices.Contains(a.never, id) && len(a.never) == 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		list = append(list, Warning{"--approve " + id + " approved nothing", "give the id of a record, or of a policy that asked"})
	}
	for _, err := range a.failed {
		list = append(list, Warning{"an approval is not valid: " + err.Error(), "approve the call again: ethos-decide pending lists it"})
	}
	return list
}

func commandOf(a *record.Action) string {
	switch a.Kind {
	case record.KindExec:
		words := make([]string, len(a.Argv))
		for i, w := range a.Argv {
			words[i] = printable.Word(w)
		}
		return strings.Join(words, " ")
	case record.KindShell:
		return a.Script
	case record.KindFile:
		if a.File != nil {
			return a.File.Op + " " + a.File.Path
		}
	case record.KindFetch:
		return "fetch " + a.URL
	case record.KindMCP:
		return a.Server + "/" + a.Name + " " + string(a.Input)
	}
	return a.Kind
}
