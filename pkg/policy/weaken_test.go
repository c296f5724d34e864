package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestEveryKeyOfAPolicyHasAClass: a key that was added is judged by nothing
// until somebody says whether it can weaken.
func TestEveryKeyOfAPolicyHasAClass(t *testing.T) {
	for _, key := range policyKeys {
		if _, ok := amendable.Get()[key]; !ok {
			t.Errorf("%s: in no class of amendable: can a value of it weaken a shipped policy?", key)
		}
	}
	if len(amendable.Get()) != len(policyKeys) {
		t.Errorf("%d keys are classed, and there are %d", len(amendable.Get()), len(policyKeys))
	}
	var names []string
	for _, k := range (&file{document: &document{}}).keys() {
		names = append(names, k.name)
	}
	if want := []string{"version", "packs", "principles", "macros", "policies", "proofs"}; !slices.Equal(names, want) {
		t.Errorf("keys of the file: %v; say of a new one in weaken.go why it cannot weaken, and add it here", names)
	}
}

// unprotected is a shipped policy that a consumer can change.
func unprotected(t *testing.T) Policy {
	t.Helper()
	set, err := Load(Options{Packs: Packs()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Policies() {
		if !p.Protected && p.Effect == record.VerdictDeny {
			return p
		}
	}
	t.Fatal("every shipped policy is protected")
	return Policy{}
}

// weaker is, for each key that can weaken, what a stranger would write.
var weaker = map[string]string{
	"effect":    "effect: warn",
	"when":      "when: 'false'",
	"on":        "on: [fetch]",
	"modes":     "modes: [plan]",
	"protected": "", // of a protected policy it is a fault
}

// TestHostilePolicyFile: an amendment that weakens leaves the shipped policy as
// it is until it is trusted, and is told.
func TestHostilePolicyFile(t *testing.T) {
	p := unprotected(t)
	for key, judge := range amendable.Get() {
		text, ok := weaker[key]
		if ok != (judge != nil) {
			t.Errorf("%s: a hostile value is written for each key that can weaken, and for no other", key)
		}
		if text == "" {
			continue
		}
		t.Run(key, func(t *testing.T) {
			source := Source{Name: "c.yml", Text: fmt.Appendf(nil, "version: 1\npolicies:\n  - {id: %s, %s}\n", p.ID, text), Digest: "sha256:x"}
			load := func(trusted bool) *Set {
				source.Trusted = trusted
				set, err := Load(Options{Packs: Packs(), Sources: []Source{source}})
				if err != nil {
					t.Fatal(err)
				}
				return set
			}
			same := func(q Policy) bool {
				return q.ID == p.ID && q.Effect == p.Effect && q.When == p.When && slices.Equal(q.On, p.On) && slices.Equal(q.Modes, p.Modes)
			}
			hostile, honest := load(false), load(true)
			if !slices.ContainsFunc(hostile.Policies(), same) {
				t.Errorf("the shipped policy is gone")
			}
			if slices.ContainsFunc(honest.Policies(), same) {
				t.Errorf("trusted, it changes nothing")
			}
			for _, set := range []*Set{hostile, honest} {
				c := set.Configuration()
				if len(c) != 1 || len(c[0].Widens) != 1 || !strings.HasPrefix(c[0].Widens[0], "policies."+p.ID+"."+key+": ") || c[0].Trusted != (set == honest) {
					t.Errorf("told as %+v", c)
				}
			}
		})
	}
}

// TestStricterAmendmentNeedsNoTrust: what only tightens or explains counts as it
// is written, and is not told as weakening.
func TestStricterAmendmentNeedsNoTrust(t *testing.T) {
	p := unprotected(t)
	text := fmt.Sprintf(`
version: 1
packs: [%s]
principles: [{id: mine, title: Mine.}]
policies:
  - {id: %s, effect: deny, principle: mine, message: Not here., remedy: Ask., on: [exec, shell, file, fetch, mcp, event], modes: [plan, verify, safe, auto], protected: true}
  - {id: mine.no_make, principle: mine, effect: deny, when: 'runs(shell, "make")', message: No., remedy: Ask.}
`, p.Pack, p.ID)
	set, err := Load(Options{Sources: []Source{{Name: "c.yml", Digest: "sha256:x", Text: []byte(text)}}})
	if err != nil {
		t.Fatal(err)
	}
	if c := set.Configuration(); len(c) != 1 || len(c[0].Widens) != 0 {
		t.Errorf("%+v", c)
	}
	var found []string
	for _, q := range set.Policies() {
		if q.ID == p.ID || q.ID == "mine.no_make" {
			found = append(found, q.Message)
		}
	}
	if !slices.Equal(found, []string{"Not here.", "No."}) {
		t.Errorf("%v", found)
	}
}

// TestPoliciesAround: what a work tree around adds or makes stricter counts; what it
// weakens does not, trusted or not; a name that both use is used twice.
func TestPoliciesAround(t *testing.T) {
	p := unprotected(t)
	policy := func(id, effect, when string) string {
		return fmt.Sprintf("  - {id: %s, principle: person-decides, effect: %s, when: '%s', message: No., remedy: Ask.}\n", id, effect, when)
	}
	own := "version: 1\nprinciples: [{id: house, title: House.}]\npolicies:\n" + policy("mine.a", "ask", `runs(shell, "make")`) + policy("mine.b", "ask", `runs(shell, "tar")`)
	outer := "version: 1\nprinciples: [{id: house, title: House.}]\npolicies:\n" + policy("mine.a", "deny", `runs(shell, "make")`) + policy("mine.b", "ask", `runs(shell, "tar")`) +
		policy("outer.c", "deny", `runs(shell, "cc")`) + fmt.Sprintf("  - {id: %s, effect: warn}\n", p.ID)
	set, err := Load(Options{Packs: Packs(), Sources: []Source{{Name: "w/sub/c.yml", Text: []byte(own), Digest: "sha256:x"}, {Name: "w/c.yml", Text: []byte(outer), Around: true, Trusted: true, Digest: "sha256:y"}}})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, p := range set.Policies() {
		count[p.ID]++
	}
	if count["mine.a"] != 2 || count["mine.b"] != 1 || count["outer.c"] != 1 {
		t.Errorf("%v", count)
	}
	if !slices.ContainsFunc(set.Policies(), func(q Policy) bool { return q.ID == p.ID && q.Effect == p.Effect }) {
		t.Error("the work tree around weakens a shipped policy")
	}
	if c := set.Configuration(); len(c) != 2 || c[1].Trusted || len(c[1].Widens) != 0 {
		t.Errorf("%+v", c)
	}
	d := set.Decide(context.Background(), commands("make", "tar", "cc"))
	var ids []string
	for _, m := range d.Matches {
		ids = append(ids, m.Effect+" "+m.ID)
	}
	if want := []string{"deny mine.a", "deny outer.c", "ask mine.b"}; d.Verdict != record.VerdictDeny || !slices.Equal(ids, want) {
		t.Errorf("%s %v %v; want %v", d.Verdict, ids, d.Errors, want)
	}
}

// commands is a record of a script that runs these programs.
func commands(names ...string) Input {
	f := &record.Facts{Shell: record.Shell{IR: "1", Parsed: true}}
	for _, name := range names {
		f.Shell.Commands = append(f.Shell.Commands, record.Command{Name: name, Path: name, Argv: []*string{&name}})
	}
	return Input{Action: &record.Action{Kind: record.KindShell, Script: strings.Join(names, "; "), Cwd: "/w", Workspace: "/w"}, Actor: &record.Actor{Mode: record.ModeSafe}, Facts: f}
}
