package trace

import (
	"bytes"
	"slices"
	"strconv"
	"testing"
	"time"

	"ethos/pkg/record"
)

// matched is a decision with one match.
func matched(verdict, effect string) record.Decision {
	return record.Decision{Verdict: verdict, Matches: []record.Match{{ID: "p", Effect: effect}}}
}

// withSeal returns the decision with its seal.
func withSeal(t testing.TB, d record.Decision) record.Decision {
	t.Helper()
	d, err := d.Sealed()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// edited returns a decision whose verdict was changed after it was sealed.
func edited(t testing.TB, d record.Decision, verdict string) record.Decision {
	d = withSeal(t, d)
	d.Verdict = verdict
	return d
}

// within is a call that a hook let run, confined or not, with its time limit.
func within(applied bool, d record.Decision, seconds int64) map[string]any {
	return map[string]any{
		"facts":    record.Facts{Capabilities: record.Capabilities{TimeoutSeconds: seconds}},
		"decision": d, "confine": confinement{applied, applied},
	}
}

// TestOutcomes holds that the decision comes before the kind of the action and before its result: what
// was refused is refused, and a run counts only if something let it pass. Both readers agree.
func TestOutcomes(t *testing.T) {
	allow, deny, ask := matched(record.VerdictAllow, record.VerdictAllow), matched(record.VerdictDeny, record.VerdictDeny), matched(record.VerdictAsk, record.VerdictAsk)
	warn := matched(record.VerdictWarn, record.VerdictWarn)
	exited := record.Result{Status: record.StatusExited}
	failed := record.Result{Status: record.StatusExited, ExitCode: 1}
	refused := func(reason string) record.Result {
		return record.Result{Status: record.StatusDenied, Reason: reason, Message: "m"}
	}
	approved := deny
	approved.Verdict, approved.Approval = record.VerdictWarn, &record.Approval{By: "u", Time: "t", Covers: "once", Policies: []string{"p"}}
	exec, event := record.KindExec, record.KindEvent
	cases := map[string]struct {
		kind string
		set  map[string]any
		want Outcome
		why  []string
	}{
		"ran":                          {exec, map[string]any{"decision": allow, "result": exited}, Passed, nil},
		"ran with a warning":           {exec, map[string]any{"decision": warn, "result": exited}, Passed, nil},
		"ran, sealed":                  {exec, map[string]any{"decision": withSeal(t, allow), "result": exited}, Passed, nil},
		"failed":                       {exec, map[string]any{"decision": allow, "result": failed}, Failed, nil},
		"may run":                      {exec, map[string]any{"decision": withSeal(t, warn)}, Allowed, nil},
		"an event":                     {event, nil, Reported, nil},
		"an event that was decided":    {event, map[string]any{"decision": allow}, Reported, nil},
		"an event that was refused":    {event, map[string]any{"decision": deny}, Denied, []string{"p"}},
		"an event that waits":          {event, map[string]any{"decision": ask}, Asked, []string{"p"}},
		"an event with errors":         {event, map[string]any{"decision": record.Decision{Verdict: record.VerdictDeny, Errors: []record.PolicyError{{Code: "c"}}}}, Denied, []string{"c"}},
		"nobody decided":               {exec, nil, Undecided, nil},
		"ran, and nobody decided":      {exec, map[string]any{"result": exited}, Undecided, []string{reasonBroken}},
		"ran in spite of a denial":     {exec, map[string]any{"decision": deny, "result": exited}, Denied, []string{reasonBroken, "p"}},
		"failed in spite of it":        {exec, map[string]any{"decision": deny, "result": failed}, Denied, []string{reasonBroken, "p"}},
		"ran before anybody said so":   {exec, map[string]any{"decision": ask, "result": exited}, Asked, []string{reasonBroken, "p"}},
		"refused":                      {exec, map[string]any{"decision": deny, "result": refused("decision.deny")}, Denied, []string{"p"}},
		"asked":                        {exec, map[string]any{"decision": ask, "result": refused("decision.ask")}, Asked, []string{"p"}},
		"refused by the sandbox":       {exec, map[string]any{"decision": allow, "result": refused("sandbox.setup")}, Denied, nil},
		"another verdict":              {exec, map[string]any{"decision": matched(record.VerdictAllow, record.VerdictDeny)}, Denied, []string{reasonBroken, "p"}},
		"another verdict, and ran":     {exec, map[string]any{"decision": matched(record.VerdictAllow, record.VerdictDeny), "result": exited}, Denied, []string{reasonBroken, "p"}},
		"no longer asks":               {exec, map[string]any{"decision": matched(record.VerdictAllow, record.VerdictAsk)}, Denied, []string{reasonBroken, "p"}},
		"errors, and allows":           {exec, map[string]any{"decision": record.Decision{Verdict: record.VerdictAllow, Errors: []record.PolicyError{{Code: "c"}}}}, Denied, []string{reasonBroken, "c"}},
		"edited after the seal":        {exec, map[string]any{"decision": edited(t, record.Decision{Verdict: record.VerdictDeny}, record.VerdictAllow), "result": exited}, Denied, []string{reasonBroken}},
		"an event, edited":             {event, map[string]any{"decision": edited(t, record.Decision{Verdict: record.VerdictDeny}, record.VerdictAllow)}, Denied, []string{reasonBroken}},
		"redacted after the seal":      {exec, map[string]any{"decision": edited(t, warn, record.VerdictAllow), "result": exited, "redacted": 1}, Passed, nil},
		"redacted, still denies":       {exec, map[string]any{"decision": edited(t, deny, record.VerdictAllow), "redacted": 1}, Denied, []string{reasonBroken, "p"}},
		"approved":                     {exec, map[string]any{"actor": record.Actor{Mode: record.ModeSafe, AdminApproved: true}, "decision": withSeal(t, approved), "result": exited}, Passed, []string{"p"}},
		"approved by nobody":           {exec, map[string]any{"decision": withSeal(t, approved), "result": exited}, Denied, []string{reasonBroken, "p"}},
		"confined, and no result":      {exec, within(true, allow, 1800), NoResult, nil},
		"confined, with its result":    {exec, map[string]any{"confine": confinement{true, true}, "decision": allow, "result": exited}, Passed, nil},
		"confined, recorded elsewhere": {exec, map[string]any{"confine": confinement{true, false}, "decision": allow}, Allowed, nil},
		"confined, and refused":        {exec, within(true, deny, 1800), Denied, []string{"p"}},
		"not confined":                 {exec, within(false, allow, 1800), Allowed, nil},
		"confined, may still run":      {exec, within(true, allow, 24*3600-1), Allowed, nil},
		"confined, without a limit":    {exec, within(true, allow, 0), Allowed, nil},
		"confined, more than a day":    {exec, within(true, allow, 99*3600), Allowed, nil},
		"exited by a signal":           {exec, map[string]any{"decision": allow, "result": record.Result{Status: record.StatusExited, Signal: "SIGKILL"}}, Failed, nil},
		"killed":                       {exec, map[string]any{"decision": allow, "result": record.Result{Status: record.StatusSignaled, Signal: "SIGKILL"}}, Failed, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := record.Action{Kind: c.kind, Argv: []string{"x"}, Cwd: "/w", Workspace: "/w"}
			if c.kind == event {
				a.Argv, a.Name = nil, "PreToolUse"
			}
			l := record.NewLine("id", time.Date(2026, 1, 2, 0, 0, 1, 0, time.UTC), a, record.Actor{Mode: record.ModeSafe})
			for key, v := range c.set {
				if err := l.Set(key, v); err != nil {
					t.Fatal(err)
				}
			}
			strict, err := NewEntry(l, statNow)
			if err != nil {
				t.Fatal(err)
			}
			quick, isAction := Skim(l.AppendTo(nil), statNow)
			if !isAction {
				t.Fatal("not read")
			}
			for reader, e := range map[string]*Entry{"strict": strict, "quick": quick} {
				if got := e.Outcome(); got != c.want {
					t.Errorf("%s: %s, want %s", reader, got, c.want)
				}
				if got := e.Reasons(); !slices.Equal(got, c.why) {
					t.Errorf("%s: reasons %q, want %q", reader, got, c.why)
				}
			}
		})
	}
}

// TestLate holds that a result is late once the call's time limit is over: without one, once the store
// no longer takes a result.
func TestLate(t *testing.T) {
	made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		limit int64
		after time.Duration
		want  Outcome
	}{
		{300, 300 * time.Second, Allowed}, {300, 301 * time.Second, NoResult}, {0, 24 * time.Hour, Allowed}, {0, 25 * time.Hour, NoResult},
		{99 * 3600, 25 * time.Hour, NoResult}, {300, -time.Hour, Allowed},
	} {
		l := record.NewLine("id", made, record.Action{Kind: record.KindShell, Script: "x", Cwd: "/w", Workspace: "/w"}, record.Actor{Mode: record.ModeSafe})
		for name, v := range within(true, matched(record.VerdictAllow, record.VerdictAllow), c.limit) {
			if err := l.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
		strict, err := NewEntry(l, made.Add(c.after))
		quick, isAction := Skim(l.AppendTo(nil), made.Add(c.after))
		if err != nil || !isAction || strict.Outcome() != c.want || quick.Outcome() != c.want {
			t.Errorf("limit %d, after %v: %s and %s (%v), want %s", c.limit, c.after, strict.Outcome(), quick.Outcome(), err, c.want)
		}
	}
}

// TestHeld holds that a call which comes as decided and with its result is read once, whatever else
// comes under its id.
func TestHeld(t *testing.T) {
	line := func(id, script string, result bool) *record.Line {
		l := record.NewLine(id, statNow, record.Action{Kind: record.KindShell, Script: script, Cwd: "/w", Workspace: "/w"}, record.Actor{Mode: record.ModeSafe})
		set := map[string]any{"confine": confinement{true, true}}
		if result {
			set["result"] = record.Result{Status: record.StatusExited}
		}
		for _, name := range []string{"confine", "result"} {
			if v, ok := set[name]; ok {
				if err := l.Set(name, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		return l
	}
	var entries Held[*Entry]
	var texts Held[[]byte]
	var now, later, nowText, laterText []string
	name := func(l *record.Line) string { return l.ID() + " " + string(l.Raw("action")[26:28]) }
	for _, l := range []*record.Line{
		line("1", "aa", false), line("2", "bb", false), line("3", "cc", false), line("2", "bb", true), line("3", "dd", true), line("4", "ee", true), line("1", "aa", false), line("5", "ff", false),
	} {
		e, err := NewEntry(l, statNow)
		if err != nil {
			t.Fatal(err)
		}
		if !HoldEntry(&entries, e) {
			now = append(now, name(l))
		}
		text := l.AppendTo(nil)
		if !HoldText(&texts, text) {
			nowText = append(nowText, name(l))
		}
		clear(text) // the reader's buffer
	}
	for _, e := range entries.Rest() {
		later = append(later, name(e.Line))
	}
	for _, text := range texts.Rest() {
		l, err := record.ParseLine(bytes.TrimSpace(text))
		if err != nil {
			t.Fatal(err)
		}
		laterText = append(laterText, name(l))
	}
	wantNow, wantLater := []string{"2 bb", "3 dd", "4 ee"}, []string{"3 cc", "1 aa", "5 ff"}
	if !slices.Equal(now, wantNow) || !slices.Equal(nowText, wantNow) {
		t.Errorf("at once %q, %q, want %q", now, nowText, wantNow)
	}
	if !slices.Equal(later, wantLater) || !slices.Equal(laterText, wantLater) {
		t.Errorf("at the end %q, %q, want %q", later, laterText, wantLater)
	}
}

// TestHeldIsBounded holds that what does not fit counts at once.
func TestHeldIsBounded(t *testing.T) {
	var h Held[[]byte]
	key := func(n int) callKey { return callKey{id: strconv.Itoa(n)} }
	if !h.keep(key(1), nil, maxHeldBytes-10) || h.keep(key(2), nil, 11) || !h.keep(key(3), nil, 10) {
		t.Error("bytes")
	}
	h.drop(key(1))
	if !h.keep(key(2), nil, 11) || len(h.Rest()) != 2 || h.bytes != 0 {
		t.Error("after one was dropped")
	}
	for n := range maxHeld {
		h.keep(key(n), nil, 1)
	}
	if h.keep(key(-1), nil, 1) || !h.keep(key(7), nil, 1) {
		t.Error("number")
	}
}
