//go:build !nocel

package decide

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"ethos/pkg/ceiling"
	"ethos/pkg/policy"
	"ethos/pkg/record"
)

// TestAnswersInTheRecordDoNotCount: a decision, an approval or a boundary that a record claims is
// replaced, unless the record is one that was decided before and is decided again.
func TestAnswersInTheRecordDoNotCount(t *testing.T) {
	for name, c := range map[string]struct {
		script   string
		recorded bool
		want     string
	}{
		"claimed":              {script: needsNetwork, want: record.VerdictDeny},
		"recorded":             {script: needsNetwork, recorded: true, want: record.VerdictAllow},
		"claimed, and asked":   {script: asksFirst, want: record.VerdictAsk},
		"recorded, and asked":  {script: asksFirst, recorded: true, want: record.VerdictAllow},
		"recorded, never":      {script: neverPasses, recorded: true, want: record.VerdictDeny},
		"claimed, and allowed": {script: "ls", want: record.VerdictAllow},
	} {
		w := newWorld(t)
		l := w.line(call{script: c.script})
		var actor record.Actor
		w.must(l.Decode("actor", &actor))
		actor.AdminApproved, actor.Confined = true, true
		w.must(l.Set("actor", actor))
		w.must(l.Set("decision", record.Decision{Verdict: record.VerdictAllow, Approval: &record.Approval{ID: l.ID(), By: "me", Policies: []string{"secrets.read"}, Grants: []string{}}}))
		d := w.decider(Options{})
		d.Recorded = c.recorded
		v := w.decide(d, w.parsed(l))
		w.holds(name, v, c.want, "")
		if v.Decision.Approval != nil || v.Actor.AdminApproved != c.recorded || v.Actor.Confined != c.recorded {
			t.Errorf("%s: %+v, %+v", name, v.Decision.Approval, v.Actor)
		}
	}
}

// TestDecisionIsOfItsRecord: the decision names the record as it is after the decision, and is sealed;
// a record, or a decision, that is changed later no longer fits.
func TestDecisionIsOfItsRecord(t *testing.T) {
	w := newWorld(t)
	for _, script := range []string{"ls", needsNetwork, asksFirst, neverPasses} {
		l, d := w.line(call{script: script}), w.decider(Options{})
		d.Mode = record.ModeVerify // the record's is another
		v := w.decide(d, l)
		l = w.parsed(l)
		var noted record.Decision
		w.must(l.Decode("decision", &noted))
		subject, err := l.Subject()
		if w.must(err); noted.Subject != subject || noted.Seal == "" || noted.Seal != v.Decision.Seal || noted.Broken(false) != "" {
			t.Errorf("%s: subject %s of %s, seal %q, %s", script, noted.Subject, subject, noted.Seal, noted.Broken(false))
		}
		for name, change := range map[string]func(*record.Line) error{
			"action": func(l *record.Line) error {
				return l.Set("action", record.Action{Kind: record.KindShell, Script: script + " x", Cwd: w.workspace, Workspace: w.workspace})
			},
			"actor": func(l *record.Line) error {
				return l.Set("actor", record.Actor{Mode: record.ModeVerify, AdminApproved: true})
			},
			"facts": func(l *record.Line) error { return l.Set("facts", record.Facts{}) },
		} {
			other := w.parsed(l)
			w.must(change(other))
			if changed, err := other.Subject(); err != nil || changed == subject {
				t.Errorf("%s: another %s has the same subject, %v", script, name, err)
			}
		}
		noted.DurationMS++
		if noted.Broken(false) != "" {
			t.Errorf("%s: how long it took is sealed", script)
		}
		noted.Matches = append(noted.Matches, record.Match{ID: "x", Effect: record.VerdictWarn})
		if noted.Broken(false) == "" {
			t.Errorf("%s: a changed decision has the same seal", script)
		}
	}
	for _, member := range []string{"facts", "actor"} {
		l := w.line(call{script: "ls"})
		l.Delete(member)
		w.holds("without "+member, w.decide(w.decider(Options{}), l), record.VerdictDeny, "")
	}
}

// TestNobodyAskedAndNoBoundary: what would run without a boundary while nobody is asked does not, and
// no approval lets it; the administrator may require one in every mode.
func TestNobodyAskedAndNoBoundary(t *testing.T) {
	outside, inside := errors.New("there is none"), error(nil)
	required := &ceiling.Ceiling{Require: []string{"network"}}
	for name, c := range map[string]struct {
		script, mode string
		file         bool
		confines     *error
		limit        *ceiling.Ceiling
		want         string
		denied       bool // because of the boundary
	}{
		"auto, outside":            {script: "ls", mode: record.ModeAuto, confines: &outside, want: record.VerdictDeny, denied: true},
		"auto, inside":             {script: "ls", mode: record.ModeAuto, confines: &inside, want: record.VerdictAllow},
		"auto, not asked":          {script: "ls", mode: record.ModeAuto, want: record.VerdictAllow},
		"auto, a file":             {script: "ls", mode: record.ModeAuto, file: true, confines: &outside, want: record.VerdictAllow},
		"safe, outside":            {script: "ls", mode: record.ModeSafe, confines: &outside, want: record.VerdictAllow},
		"safe, outside, required":  {script: "ls", mode: record.ModeSafe, confines: &outside, limit: required, want: record.VerdictDeny, denied: true},
		"safe, inside, required":   {script: "ls", mode: record.ModeSafe, confines: &inside, limit: required, want: record.VerdictAllow},
		"safe, outside, a ceiling": {script: "ls", mode: record.ModeSafe, confines: &outside, limit: &ceiling.Ceiling{}, want: record.VerdictAllow},
		"asked, outside":           {script: asksFirst, mode: record.ModeSafe, confines: &outside, want: record.VerdictAsk},
		"refused, outside":         {script: neverPasses, mode: record.ModeAuto, confines: &outside, want: record.VerdictDeny},
	} {
		w := newWorld(t)
		l := w.line(call{script: c.script, mode: c.mode})
		if c.file {
			w.must(l.Set("action", record.Action{Kind: record.KindFile, Cwd: w.workspace, Workspace: w.workspace, File: &record.FileAction{Op: "read", Path: "x"}}))
		}
		d := w.remembering()
		d.Limit = c.limit
		if c.confines != nil {
			d.Confines = func(*policy.Input) error { return *c.confines }
		}
		v := w.decide(d, l)
		w.holds(name, v, c.want, "")
		denied := len(v.Decision.Errors) == 1 && v.Decision.Errors[0].Code == codeUnbounded
		if denied != c.denied || denied && (v.Passable || !v.Never || v.Approve() != "") {
			t.Errorf("%s: %+v, passable %v", name, v.Decision.Errors, v.Passable)
		}
		if blocked := d.Blocked == 1; blocked == Allows(c.want) {
			t.Errorf("%s: %d lines count as blocked", name, d.Blocked)
		}
		if confined := c.confines == &inside; v.Actor.Confined != confined {
			t.Errorf("%s: the record says confined: %v", name, v.Actor.Confined)
		}
	}
}

// TestSubAgentIsBounded: an action of a sub-agent is decided in the stricter mode of both, and the
// record says so.
func TestSubAgentIsBounded(t *testing.T) {
	w := newWorld(t)
	l := w.line(call{script: "make", mode: record.ModeSafe})
	var actor record.Actor
	w.must(l.Decode("actor", &actor))
	actor.Parent = &record.Parent{Mode: record.ModePlan, Session: "p"}
	w.must(l.Set("actor", actor))
	v := w.decide(w.decider(Options{}), l)
	w.holds("below plan", v, record.VerdictDeny, "trust.plan_command")
	if v.Actor.Mode != record.ModePlan {
		t.Errorf("the record says %s", v.Actor.Mode)
	}
}

// TestManyLinesOfOneDecider: as ethos-git asks, line after line of a process that goes on. Each is
// decided by itself: what was approved, refused or broken before changes nothing for the next.
func TestManyLinesOfOneDecider(t *testing.T) {
	w := newWorld(t)
	this := call{script: needsNetwork}
	w.approves(w.refused(this), nil)
	w.repository("sub")
	w.write("sub/"+ConsumerFile, "version: [")
	d := w.remembering()
	for i, c := range []struct {
		call call
		want string // "" for an error
	}{
		{call{script: "git status"}, record.VerdictAllow}, {this, record.VerdictAllow}, {this, record.VerdictDeny},
		{call{script: "git status", cwd: "sub"}, ""}, {call{script: "git status"}, record.VerdictAllow}, {call{script: neverPasses}, record.VerdictDeny},
		{call{script: "git status", cwd: "sub"}, ""}, {call{script: "git log"}, record.VerdictAllow},
		{call{script: "make"}, record.VerdictAllow}, {call{script: "make", mode: record.ModePlan}, record.VerdictDeny}, {call{script: "make"}, record.VerdictAllow},
	} {
		l := w.line(c.call)
		before := string(l.AppendTo(nil))
		v, err := d.Decide(t.Context(), l)
		if c.want == "" {
			if err == nil || Allows(v.Decision.Verdict) || string(l.AppendTo(nil)) != before {
				t.Errorf("line %d: %+v, %v", i, v.Decision, err)
			}
			continue
		}
		w.must(err)
		w.holds(c.call.script, v, c.want, "")
	}
	if d.Blocked != 3 {
		t.Errorf("%d lines count as blocked", d.Blocked)
	}
}

// TestDurationIsOfTheDecision: in milliseconds, to whole microseconds.
func TestDurationIsOfTheDecision(t *testing.T) {
	w := newWorld(t)
	at := now()
	d := New(NewLibrary(Options{}, w.memory), nil, func() time.Time { at = at.Add(1500*time.Microsecond + 300); return at })
	l := w.line(call{script: "ls"})
	w.decide(d, l)
	var noted struct {
		DurationMS json.Number `json:"duration_ms"`
	}
	if w.must(json.Unmarshal(l.Raw("decision"), &noted)); noted.DurationMS != "1.5" {
		t.Errorf("%s ms", noted.DurationMS)
	}
}
