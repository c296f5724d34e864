package record

import "testing"

func TestDecisionBroken(t *testing.T) {
	deny := Match{ID: "p", Effect: VerdictDeny}
	ask := Match{ID: "q", Effect: VerdictAsk}
	sealed := func(d Decision) Decision {
		t.Helper()
		d, err := d.Sealed()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	edit := func(d Decision, change func(*Decision)) Decision { change(&d); return d }
	for _, c := range []struct {
		name     string
		decision Decision
		approved bool
		whole    bool
	}{
		{"denied", sealed(Decision{Verdict: VerdictDeny, Matches: []Match{deny}}), false, true},
		{"allowed", sealed(Decision{Verdict: VerdictAllow}), false, true},
		{"the time it took is no part of it", edit(sealed(Decision{Verdict: VerdictAllow, DurationMS: 2}), func(d *Decision) { d.DurationMS = 3 }), false, true},
		{"allowed elsewhere, without a seal", Decision{Verdict: VerdictAllow}, false, true},
		{"approved", sealed(Decision{Verdict: VerdictAllow, Matches: []Match{ask}}), true, true},
		{"not approved", Decision{Verdict: VerdictAllow, Matches: []Match{ask}}, false, false},
		{"approval does not answer a denial", Decision{Verdict: VerdictAllow, Matches: []Match{deny}}, true, false},
		{"approval that names what denied", sealed(Decision{Verdict: VerdictAllow, Matches: []Match{deny}, Approval: &Approval{Policies: []string{"p"}}}), true, true},
		{"the same, not approved", sealed(Decision{Verdict: VerdictAllow, Matches: []Match{deny}, Approval: &Approval{Policies: []string{"p"}}}), false, false},
		{"approval of another policy", sealed(Decision{Verdict: VerdictAllow, Matches: []Match{deny}, Approval: &Approval{Policies: []string{"r"}}}), true, false},
		{"error", Decision{Verdict: VerdictAllow, Errors: []PolicyError{{Code: "policy.error"}}}, true, false},
		{"verdict edited", edit(sealed(Decision{Verdict: VerdictDeny, Matches: []Match{deny}}), func(d *Decision) { d.Verdict = VerdictAllow }), false, false},
		{"effect and verdict edited", edit(sealed(Decision{Verdict: VerdictDeny, Matches: []Match{deny}}), func(d *Decision) {
			d.Verdict, d.Matches = VerdictAllow, []Match{{ID: "p", Effect: VerdictAllow}}
		}), false, false},
		{"match removed", edit(sealed(Decision{Verdict: VerdictDeny, Matches: []Match{deny}}), func(d *Decision) { d.Verdict, d.Matches = VerdictAllow, nil }), false, false},
		{"subject of another", edit(sealed(Decision{Verdict: VerdictAllow, Subject: "sha256:00"}), func(d *Decision) { d.Subject = "sha256:01" }), false, false},
	} {
		if why := c.decision.Broken(c.approved); (why == "") != c.whole {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}
