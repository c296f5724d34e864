package policy

import (
	"context"
	"slices"
	"strings"
	"time"

	"ethos/pkg/record"
)

// Codes of record.PolicyError. Each of them denies the action.
const (
	CodeError      = "policy.error"      // the expression failed
	CodeCost       = "policy.cost"       // it exceeded its cost limit
	CodeDeadline   = "policy.deadline"   // it ran out of time
	CodeIncomplete = "policy.incomplete" // its result depends on a fact that could not be established
	CodeNoFacts    = "decision.no_facts" // the record has no facts
	CodeNoActor    = "decision.no_actor" // the record does not say who asks
)

// Default limits of one evaluation. Every shipped policy stays below a tenth of the cost limit for
// the largest scripts that facts describe.
const (
	defaultCost     = 1_000_000       // units of CEL's cost model: about one per interpreter step, half a second in all
	defaultDeadline = 5 * time.Second // wall clock
	interruptEvery  = 64              // iterations between two checks of the clock
)

// outcome is the result of an expression for a record.
type outcome struct {
	matched bool
	code    string // of the failure, "" if there was none
	message string
}

// Decide evaluates the policies for a record. It never fails: what cannot be decided is denied, and
// Errors gives the reason. The caller sets Subject, because it has the line.
//
// The action of a sub-agent is decided in the stricter of its own mode and its parent's. Every
// policy for the action's kind and mode is evaluated. Matches has all that matched, strictest
// first, then by id. The verdict is the strictest effect: deny if there is an error, allow if
// nothing matched.
func (s *Set) Decide(ctx context.Context, in Input) record.Decision {
	d := record.Decision{
		Verdict: record.VerdictAllow,
		Matches: []record.Match{},
		Errors:  []record.PolicyError{},
		Policy:  record.PolicySet{Digest: s.digest, Packs: s.Packs(), Configuration: s.configuration, Ceiling: s.ceiling},
	}
	if fault := in.missing(); fault != nil {
		d.Verdict, d.Errors = record.VerdictDeny, append(d.Errors, *fault)
		return d
	}
	bounded := in.Actor.Bounded()
	in.Actor = &bounded
	unknown, codes := blind(&in)
	vars, seen := newActivation(&in), &sight{in: &in}
	quick := s.bounds == Bounds{}.orDefault() // others are CEL's to keep
	for _, r := range s.rules {
		if !r.applies(in.Action.Kind, in.Actor.Mode) {
			continue
		}
		d.Policy.Evaluated++
		hidden := r.unknownTo(unknown)
		if len(hidden) == 0 && !r.need.met(seen) {
			continue
		}
		if len(hidden) == 0 && quick {
			if matched, ok := r.expr.value(ctx, &in); ok {
				enter(&d, r, &in, outcome{matched: matched}, nil)
				continue
			}
		}
		enter(&d, r, &in, r.expr.eval(ctx, vars, hidden, s.bounds), codes)
	}
	slices.SortStableFunc(d.Matches, strictestFirst)
	if s.doubled {
		d.Matches = oncePerPolicy(d.Matches)
	}
	d.Errors = folded(d.Errors)
	return d
}

// oncePerPolicy keeps the strictest match of each policy name.
func oncePerPolicy(sorted []record.Match) []record.Match {
	seen := map[string]bool{}
	return slices.DeleteFunc(sorted, func(m record.Match) bool {
		again := seen[m.ID]
		seen[m.ID] = true
		return again
	})
}

// folded keeps one of the errors that report a missing fact, because one missing fact stops many
// policies for the same reason.
func folded(errors []record.PolicyError) []record.PolicyError {
	kept, seen := []record.PolicyError{}, false
	for _, e := range errors {
		if e.Code == CodeIncomplete {
			if seen {
				continue
			}
			seen = true
		}
		kept = append(kept, e)
	}
	return kept
}

// missing reports what a record lacks for any decision, or nil.
func (in *Input) missing() *record.PolicyError {
	switch {
	case in.Facts == nil:
		return &record.PolicyError{Code: CodeNoFacts, Message: "the record has no facts: run it through ethos-facts first"}
	case in.Action == nil || !slices.Contains(Kinds(), in.Action.Kind):
		return &record.PolicyError{Code: CodeNoFacts, Message: "the record has no action of a known kind"}
	case in.Actor == nil || !slices.Contains(Modes(), in.Actor.Mode):
		return &record.PolicyError{Code: CodeNoActor, Message: "the record has no actor with a known trust mode"}
	case in.Actor.Parent != nil && !slices.Contains(Modes(), in.Actor.Parent.Mode):
		return &record.PolicyError{Code: CodeNoActor, Message: "the record does not say how far the actor's parent is trusted"}
	}
	return nil
}

// enter adds the result of one policy to the decision.
func enter(d *record.Decision, r *rule, in *Input, said outcome, codes []string) {
	switch {
	case said.code != "":
		message := said.message
		id := r.ID
		if said.code == CodeIncomplete { // it concerns the action, not the policy that met it first
			id, message = "", unreadable(in, codes)
		}
		d.Errors = append(d.Errors, record.PolicyError{ID: id, Code: said.code, Message: message})
		d.Verdict = record.VerdictDeny
	case said.matched:
		d.Matches = append(d.Matches, r.match(in))
		if Stricter(r.Effect, d.Verdict) {
			d.Verdict = r.Effect
		}
	}
}

func (p *Policy) match(in *Input) record.Match {
	return record.Match{ID: p.ID, Pack: p.Pack, Principle: p.Principle, Effect: p.Effect, Message: strings.ReplaceAll(filled(p.Message, in), pathsBlank, p.paths(in)), Remedy: filled(p.Remedy, in),
		File: p.File, Line: p.Line}
}

func strictestFirst(a, b record.Match) int {
	if a.Effect != b.Effect {
		return rank(b.Effect) - rank(a.Effect)
	}
	return strings.Compare(a.ID, b.ID)
}
