//go:build !nocel

package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"github.com/google/cel-go/common/types"

	"ethos/pkg/record"
)

// FactsFunc places the action of an example, whose Cwd is relative, in a work space, and derives
// its facts. It is passed in because this package does not import the one that derives facts: the
// stages share only the record.
type FactsFunc func(context.Context, record.Action, record.Actor) (record.Action, record.Facts, error)

// Report is the outcome of running examples.
type Report struct {
	Policies int      // policies checked
	Bare     []string // those without a refused and an allowed example, each with its position
	Examples int      // examples run
	Wrong    []WrongExample
	Coverage Coverage
}

// Add adds the results of another report.
func (r *Report) Add(other Report) {
	r.Policies += other.Policies
	r.Bare = append(r.Bare, other.Bare...)
	r.Examples += other.Examples
	r.Wrong = append(r.Wrong, other.Wrong...)
	r.Coverage.merge(other.Coverage)
}

// WrongExample is an example for which the policy gave another result than the example expects.
type WrongExample struct {
	Policy  string
	File    string
	Line    int
	Column  int
	Example string // the action, abbreviated
	Want    string // match | no match
	Got     string
}

func (w WrongExample) String() string {
	return fmt.Sprintf("%s:%d:%d: %s: %s: wanted %s, got %s", w.File, w.Line, w.Column, w.Policy, w.Example, w.Want, w.Got)
}

// LoadShipped compiles every shipped pack from its text, with the examples that the embedded form leaves out.
func LoadShipped() (*Set, error) {
	files, err := fs.Sub(packFiles, "packs")
	if err != nil {
		return nil, err
	}
	return readShipped(files)
}

// Check runs the examples of the set's policies, each against its own policy. It also lets every
// variable fail in turn, and measures which parts of the expressions the examples cover. The error
// is one of deriving facts.
func (s *Set) Check(ctx context.Context, facts FactsFunc) (Report, error) {
	var report Report
	for _, r := range s.rules {
		bare := len(r.Examples.Deny) == 0 || len(r.Examples.Allow) == 0
		if bare && isShipped(r.ID) && len(r.Examples.Deny)+len(r.Examples.Allow) == 0 {
			continue // the embedded form leaves them out; LoadShipped has them
		}
		report.Policies++
		if bare {
			report.Bare = append(report.Bare, fmt.Sprintf("%s: %s: no example on each side", r.place(), r.ID))
		}
		outcomes := map[int64]seen{}
		wrong, err := s.examples(ctx, facts, r, func(in *Input, match bool, got string) (string, error) {
			report.Examples++
			if match && got == said(true) {
				got = s.withoutEach(ctx, r, in, got)
			}
			return got, s.observe(ctx, r, in, outcomes)
		})
		if err != nil {
			return report, err
		}
		report.Wrong = append(report.Wrong, wrong...)
		report.Coverage.add(r, outcomes)
	}
	return report, nil
}

// Prove only runs the examples.
func (s *Set) Prove(ctx context.Context, facts FactsFunc) ([]WrongExample, error) {
	var all []WrongExample
	for _, r := range s.rules {
		wrong, err := s.examples(ctx, facts, r, func(_ *Input, _ bool, got string) (string, error) { return got, nil })
		if err != nil {
			return all, err
		}
		all = append(all, wrong...)
	}
	return all, nil
}

// examples runs the examples of one rule. review gets each record and its result, and may replace
// the result.
func (s *Set) examples(ctx context.Context, facts FactsFunc, r *rule, review func(in *Input, match bool, got string) (string, error)) ([]WrongExample, error) {
	var wrong []WrongExample
	for _, side := range []struct {
		examples []Example
		match    bool
	}{{r.Examples.Deny, true}, {r.Examples.Allow, false}} {
		for i := range side.examples {
			e := &side.examples[i]
			in, err := e.input(ctx, facts, &r.Policy)
			got := ""
			if err == nil {
				got, err = review(in, side.match, s.outcomeFor(ctx, r, in, side.match))
			}
			if err != nil {
				return wrong, fmt.Errorf("%s: example %s: %w", r.place(), e, err)
			}
			if want := said(side.match); got != want {
				wrong = append(wrong, WrongExample{r.ID, r.File, e.Line, e.Column, e.String(), want + r.turned(), got})
			}
		}
	}
	return wrong, nil
}

// turned returns a reminder of what the examples mean for a policy whose effect is allow.
func (r *rule) turned() string {
	if r.Effect != record.VerdictAllow {
		return ""
	}
	return " (a policy of effect allow matches its allow examples)"
}

// outcomeFor describes the policy's result for the record.
func (s *Set) outcomeFor(ctx context.Context, r *rule, in *Input, match bool) string {
	if !r.applies(in.Action.Kind, in.Actor.Mode) {
		if match {
			return "none: the policy is not on this kind of action or mode"
		}
		return said(false)
	}
	all, _ := blind(in)
	unknown := r.unknownTo(all)
	got := inWords(r.expr.eval(ctx, newActivation(in), unknown, s.bounds))
	if len(unknown) == 0 && !r.need.met(&sight{in: in}) && got != said(false) {
		return got + ", which its need rules out"
	}
	return got
}

// withoutEach lets one variable after the other fail. A policy that matches must then still match
// or fail, and never silently not match. CEL lets false absorb an error, which is right only if the
// expression is false without that part too.
func (s *Set) withoutEach(ctx context.Context, r *rule, in *Input, want string) string {
	for _, v := range variables {
		vars := newActivation(in)
		vars.seen[v.name] = types.NewErr("%s is not to be had", v.name)
		if got := r.expr.eval(ctx, vars, nil, s.bounds); got.code == "" && !got.matched {
			return "no match when " + v.name + " fails"
		}
	}
	return want
}

func inWords(o outcome) string {
	if o.code != "" {
		return o.code + ": " + o.message
	}
	return said(o.matched)
}

func said(matched bool) string {
	if matched {
		return "a match"
	}
	return "no match"
}

func (e *Example) input(ctx context.Context, facts FactsFunc, p *Policy) (*Input, error) {
	action := record.Action{
		Kind: e.actions()[0], Argv: e.Argv, Script: e.Command, File: e.File, URL: e.URL, Server: e.Server, Name: e.Name, Input: e.Input, Cwd: e.Cwd,
		Interactive: e.Interactive,
	}
	actor := record.Actor{Mode: e.mode(p), Agent: e.Agent, Tool: e.Tool, AdminApproved: e.Approved, Confined: e.Confined}
	if e.Parent != "" {
		actor.Parent = &record.Parent{Mode: e.Parent}
		actor = actor.Bounded()
	}
	action, derived, err := facts(ctx, action, actor)
	if err != nil {
		return nil, err
	}
	if err := overlayFacts(&derived, e.Facts); err != nil {
		return nil, err
	}
	return &Input{Action: &action, Actor: &actor, Facts: &derived, Findings: e.Findings}, nil
}

func (e *Example) mode(p *Policy) string {
	switch {
	case e.Mode != "":
		return e.Mode
	case len(p.Modes) > 0:
		return p.Modes[0]
	}
	return record.ModeSafe
}

// overlayFacts merges JSON into facts: objects are merged, everything else is replaced. Unknown
// keys are errors.
func overlayFacts(facts *record.Facts, over []byte) error {
	if len(over) == 0 {
		return nil
	}
	line := record.NewLine("example", time.Time{}, record.Action{}, record.Actor{})
	if err := line.Set("facts", facts); err != nil {
		return err
	}
	var below, above map[string]any
	if err := json.Unmarshal(line.Raw("facts"), &below); err != nil {
		return err
	}
	if err := json.Unmarshal(over, &above); err != nil {
		return err
	}
	merged, err := json.Marshal(merge(below, above))
	if err != nil {
		return err
	}
	var result record.Facts
	if err := record.DecodeStrict(merged, &result); err != nil {
		return fmt.Errorf("facts of the example: %w", err)
	}
	*facts = result
	return nil
}

func merge(below, above map[string]any) map[string]any {
	for key, value := range above {
		lower, isObject := below[key].(map[string]any)
		if upper, ok := value.(map[string]any); ok && isObject {
			value = merge(lower, upper)
		}
		below[key] = value
	}
	return below
}

// String returns the example's action, abbreviated.
func (e *Example) String() string {
	switch {
	case e.Command != "":
		return fmt.Sprintf("%q", e.Command)
	case len(e.Argv) > 0:
		return fmt.Sprintf("%q", e.Argv)
	case e.File != nil:
		return e.File.Op + " " + e.File.Path
	case e.URL != "":
		return "fetch " + e.URL
	}
	return e.Server + "/" + e.Name
}
