package attest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ethos/pkg/proof"
	"ethos/pkg/record"
)

// Predicate is what is said of a commit.
type Predicate struct {
	Workspace string            `json:"workspace"`      // where the runs were
	Home      string            `json:"home,omitempty"` // home directory of who ran them; absolute
	Time      string            `json:"time"`           // when it was said, RFC 3339
	Controls  []string          `json:"controls"`       // that had to be in force
	Variables []string          `json:"variables"`      // that may have been declared
	Needs     []proof.Verdict   `json:"needs"`          // each proven
	Policies  []string          `json:"policies"`       // digests of the policy sets that decided, sorted
	Weakest   []string          `json:"weakest"`        // "control: state" of what was asked for and not enforced in some run, sorted
	Runs      []json.RawMessage `json:"runs"`           // the records, without what was printed
}

// Make says it of a store's records. Each need has to be proven; records are the lines of the runs that prove them.
func Make(w proof.Want, needs []proof.Verdict, lines map[string]*record.Line) (Predicate, error) {
	p := Predicate{Workspace: w.Workspace, Time: w.Now.UTC().Format(time.RFC3339), Controls: w.Controls, Variables: w.Variables, Needs: needs, Policies: []string{}, Weakest: []string{}}
	if p.Variables == nil {
		p.Variables = []string{}
	}
	done := map[string]bool{}
	for _, v := range needs {
		l := lines[v.ID]
		if v.State != proof.Proven || l == nil {
			return p, fmt.Errorf("%s: %s: %s", v.Need, v.State, v.Why)
		}
		if done[v.ID] {
			continue
		}
		done[v.ID] = true
		text, err := quiet(l)
		if err != nil {
			return p, err
		}
		p.Runs = append(p.Runs, text)
	}
	runs, err := p.runs()
	if err != nil {
		return p, err
	}
	p.Policies, p.Weakest = summary(runs)
	return p, nil
}

// quiet is a record without what its command printed, and without the store's seal.
func quiet(l *record.Line) (json.RawMessage, error) {
	var r record.Result
	if err := l.Decode("result", &r); err != nil {
		return nil, err
	}
	r.Capture.Stdout, r.Capture.Stderr = hushed(r.Capture.Stdout), hushed(r.Capture.Stderr)
	if err := l.Set("result", r); err != nil {
		return nil, err
	}
	l.Delete("prev")
	l.Delete("hash")
	return bytes.TrimSpace(l.AppendTo(nil)), nil
}

func hushed(s record.Stream) record.Stream {
	return record.Stream{Bytes: s.Bytes, SHA256: s.SHA256, Truncated: s.Bytes > 0}
}

// run is one of them, read.
type run struct {
	proof.Run
	Line     *record.Line
	Decision record.Decision
}

// runs reads the records, and holds each against itself.
func (p *Predicate) runs() (list []run, err error) {
	for i, text := range p.Runs {
		l, err := record.ParseLine(text)
		if err != nil {
			return nil, fmt.Errorf("run %d: %w", i+1, err)
		}
		one := run{Line: l}
		if one.Result, one.Decision, err = consistent(l); err != nil {
			return nil, fmt.Errorf("run %s: %w", l.ID(), err)
		}
		one.ID = l.ID()
		if slices.ContainsFunc(list, func(o run) bool { return o.ID == one.ID }) {
			return nil, fmt.Errorf("run %s: twice", l.ID())
		}
		list = append(list, one)
	}
	return list, nil
}

// consistent checks that a record's decision was for what it records, let it pass, and that this is what ran.
func consistent(l *record.Line) (r record.Result, d record.Decision, err error) {
	var action record.Action
	var actor record.Actor
	for name, v := range map[string]any{"action": &action, "actor": &actor, "decision": &d, "result": &r} {
		if err := l.Decode(name, v); err != nil {
			return r, d, fmt.Errorf("%s: %w", name, err)
		}
	}
	subject, err := l.Subject()
	switch why := d.Broken(actor.AdminApproved); {
	case err != nil:
		return r, d, err
	case subject != d.Subject:
		return r, d, fmt.Errorf("its decision is about something else, or a secret was taken out of it")
	case d.Seal == "" || why != "":
		return r, d, fmt.Errorf("its decision was changed %s", why)
	case d.Verdict != record.VerdictAllow && d.Verdict != record.VerdictWarn:
		return r, d, fmt.Errorf("it was not allowed: %s", d.Verdict)
	case r.Capture.Tree == nil:
		return r, d, fmt.Errorf("it has no content")
	}
	ran := r.Capture.Tree.Argv
	same := action.Kind == record.KindExec && slices.Equal(ran, action.Argv) ||
		action.Kind == record.KindShell && len(ran) == 3 && ran[2] == action.Script
	if !same {
		return r, d, fmt.Errorf("what ran is not what was decided")
	}
	return r, d, nil
}

func summary(runs []run) (policies, weakest []string) {
	policies, weakest = []string{}, []string{}
	for _, r := range runs {
		policies = append(policies, r.Decision.Policy.Digest)
		for _, c := range r.Result.Capture.Sandbox.Controls {
			if c.State != "enforced" && c.State != "not_requested" {
				weakest = append(weakest, c.Name+": "+c.State)
			}
		}
	}
	slices.Sort(policies)
	slices.Sort(weakest)
	return slices.Compact(policies), slices.Compact(weakest)
}

// Derive derives everything that is said again from the records, and compares. controls have to be among those that were asked for. The seals of the
// records are not looked at: their key does not leave its machine.
func (p *Predicate) Derive(s Subject, controls []string) error {
	runs, err := p.runs()
	if err != nil {
		return err
	}
	for _, name := range controls {
		if !slices.Contains(p.Controls, name) {
			return fmt.Errorf("the control %s was not asked for", name)
		}
	}
	said, err := time.Parse(time.RFC3339, p.Time)
	if err != nil {
		return fmt.Errorf("time: %w", err)
	}
	want := proof.Want{Tree: s.Tree, Workspace: p.Workspace, Now: said, Controls: p.Controls, Variables: p.Variables}
	var plain []proof.Run
	used := map[string]bool{}
	for _, r := range runs {
		plain = append(plain, r.Run)
	}
	for _, v := range p.Needs {
		if own := proof.Judge(v.Need, plain, want); own != v || own.State != proof.Proven {
			return fmt.Errorf("%s: %s: %s", v.Need, own.State, own.Why)
		}
		used[v.ID] = true
	}
	policies, weakest := summary(runs)
	switch {
	case len(p.Needs) == 0 || len(used) != len(runs):
		return fmt.Errorf("%d needs, and %d runs for %d of them", len(p.Needs), len(runs), len(used))
	case !slices.Equal(policies, p.Policies) || !slices.Equal(weakest, p.Weakest):
		return fmt.Errorf("what it says of policies and controls is not what its runs say")
	}
	return nil
}

// Lines are the records of the runs, for who decides about them again.
func (p *Predicate) Lines() (list []*record.Line, err error) {
	runs, err := p.runs()
	for _, r := range runs {
		list = append(list, r.Line)
	}
	return list, err
}
