package main

import (
	"context"
	"slices"

	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// approvals are the ids given with --approve, each of a record or of a policy, and whether it was of use.
type approvals map[string]bool

func newApprovals(ids []string) approvals {
	a := approvals{}
	for _, id := range ids {
		a[id] = false
	}
	return a
}

// decide decides a record and applies the approvals. An approved record has admin_approved set and every question answered. The approval of a
// policy counts for a record when nothing but approved policies stands in its way.
func (a approvals) decide(ctx context.Context, set *policy.Set, id string, in *policy.Input) record.Decision {
	switch {
	case in.Actor == nil:
		return set.Decide(ctx, *in)
	case in.Actor.AdminApproved: // as recorded
		return policy.Approved(set.Decide(ctx, *in), nil)
	case len(a) == 0:
		return set.Decide(ctx, *in)
	}
	if _, ok := a[id]; ok {
		a[id] = true
		in.Actor.AdminApproved = true
		return policy.Approved(set.Decide(ctx, *in), nil)
	}
	first := set.Decide(ctx, *in)
	standing := blocking(&first)
	if len(standing) == 0 || len(first.Errors) > 0 || !a.all(standing) {
		return first
	}
	for _, policyID := range standing {
		a[policyID] = true
	}
	in.Actor.AdminApproved = true
	return policy.Approved(set.Decide(ctx, *in), standing)
}

// blocking lists the policies that stand in a record's way.
func blocking(d *record.Decision) []string {
	var ids []string
	for _, m := range d.Matches {
		if m.Effect == record.VerdictAsk || m.Effect == record.VerdictDeny {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (a approvals) all(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { _, ok := a[id]; return !ok })
}

func (a approvals) unused() []string {
	var ids []string
	for id, used := range a {
		if !used {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
