package trace

import (
	"slices"
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
		"ran":                        {exec, map[string]any{"decision": allow, "result": exited}, Passed, nil},
		"ran with a warning":         {exec, map[string]any{"decision": warn, "result": exited}, Passed, nil},
		"ran, sealed":                {exec, map[string]any{"decision": withSeal(t, allow), "result": exited}, Passed, nil},
		"failed":                     {exec, map[string]any{"decision": allow, "result": failed}, Failed, nil},
		"may run":                    {exec, map[string]any{"decision": withSeal(t, warn)}, Allowed, nil},
		"an event":                   {event, nil, Reported, nil},
		"an event that was decided":  {event, map[string]any{"decision": allow}, Reported, nil},
		"an event that was refused":  {event, map[string]any{"decision": deny}, Denied, []string{"p"}},
		"an event that waits":        {event, map[string]any{"decision": ask}, Asked, []string{"p"}},
		"an event with errors":       {event, map[string]any{"decision": record.Decision{Verdict: record.VerdictDeny, Errors: []record.PolicyError{{Code: "c"}}}}, Denied, []string{"c"}},
		"nobody decided":             {exec, nil, Undecided, nil},
		"ran, and nobody decided":    {exec, map[string]any{"result": exited}, Undecided, []string{reasonBroken}},
		"ran in spite of a denial":   {exec, map[string]any{"decision": deny, "result": exited}, Denied, []string{"p", reasonBroken}},
		"failed in spite of it":      {exec, map[string]any{"decision": deny, "result": failed}, Denied, []string{"p", reasonBroken}},
		"ran before anybody said so": {exec, map[string]any{"decision": ask, "result": exited}, Asked, []string{"p", reasonBroken}},
		"refused":                    {exec, map[string]any{"decision": deny, "result": refused("decision.deny")}, Denied, []string{"p"}},
		"asked":                      {exec, map[string]any{"decision": ask, "result": refused("decision.ask")}, Asked, []string{"p"}},
		"refused by the sandbox":     {exec, map[string]any{"decision": allow, "result": refused("sandbox.setup")}, Denied, nil},
		"another verdict":            {exec, map[string]any{"decision": matched(record.VerdictAllow, record.VerdictDeny)}, Denied, []string{"p", reasonBroken}},
		"another verdict, and ran":   {exec, map[string]any{"decision": matched(record.VerdictAllow, record.VerdictDeny), "result": exited}, Denied, []string{"p", reasonBroken}},
		"no longer asks":             {exec, map[string]any{"decision": matched(record.VerdictAllow, record.VerdictAsk)}, Denied, []string{"p", reasonBroken}},
		"errors, and allows":         {exec, map[string]any{"decision": record.Decision{Verdict: record.VerdictAllow, Errors: []record.PolicyError{{Code: "c"}}}}, Denied, []string{"c", reasonBroken}},
		"edited after the seal":      {exec, map[string]any{"decision": edited(t, record.Decision{Verdict: record.VerdictDeny}, record.VerdictAllow), "result": exited}, Denied, []string{reasonBroken}},
		"an event, edited":           {event, map[string]any{"decision": edited(t, record.Decision{Verdict: record.VerdictDeny}, record.VerdictAllow)}, Denied, []string{reasonBroken}},
		"redacted after the seal":    {exec, map[string]any{"decision": edited(t, warn, record.VerdictAllow), "result": exited, "redacted": 1}, Passed, nil},
		"redacted, still denies":     {exec, map[string]any{"decision": edited(t, deny, record.VerdictAllow), "redacted": 1}, Denied, []string{"p", reasonBroken}},
		"approved":                   {exec, map[string]any{"actor": record.Actor{Mode: record.ModeSafe, AdminApproved: true}, "decision": withSeal(t, approved), "result": exited}, Passed, []string{"p"}},
		"approved by nobody":         {exec, map[string]any{"decision": withSeal(t, approved), "result": exited}, Denied, []string{"p", reasonBroken}},
		"exited by a signal":         {exec, map[string]any{"decision": allow, "result": record.Result{Status: record.StatusExited, Signal: "SIGKILL"}}, Failed, nil},
		"killed":                     {exec, map[string]any{"decision": allow, "result": record.Result{Status: record.StatusSignaled, Signal: "SIGKILL"}}, Failed, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := record.Action{Kind: c.kind, Argv: []string{"x"}, Cwd: "/w", Workspace: "/w"}
			if c.kind == event {
				a.Argv, a.Name = nil, "PreToolUse"
			}
			l := record.NewLine("id", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), a, record.Actor{Mode: record.ModeSafe})
			for key, v := range c.set {
				if err := l.Set(key, v); err != nil {
					t.Fatal(err)
				}
			}
			strict, err := NewEntry(l)
			if err != nil {
				t.Fatal(err)
			}
			quick, isAction := Skim(l.AppendTo(nil))
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
