package policy

import (
	"strings"
	"testing"

	"ethos/pkg/lazy"
	"ethos/pkg/record"
)

// TestCatalogInExpressions: an expression can ask the whole catalog, and what it
// says of it is right: every managed tool is bounded, and has no more network than
// its tags say. The set's digest then depends on the catalog.
func TestCatalogInExpressions(t *testing.T) {
	if len(*tools.Get()) < 40 {
		t.Fatalf("%d tools", len(*tools.Get()))
	}
	const policy = `version: 1
policies:
  - {id: mine.catalog, principle: least-privilege, effect: deny, on: [exec, shell], message: m, remedy: r, when: '%s'}
`
	verdict := func(when string) (string, string) {
		set, err := loadText(t, strings.ReplaceAll(policy, "%s", when))
		if err != nil {
			t.Fatal(err)
		}
		in := Input{Action: &record.Action{Kind: record.KindExec, Argv: []string{"ls"}}, Actor: &record.Actor{Mode: record.ModeSafe}, Facts: &record.Facts{}}
		return set.Decide(t.Context(), in).Verdict, set.Digest()
	}
	for when, want := range map[string]string{
		`catalog.exists(t, t.managed && (t.capabilities.timeout_seconds <= 0 || t.capabilities.memory_mb <= 0 || t.capabilities.seccomp_profile == ""))`: record.VerdictAllow,
		`catalog.exists(t, "no-network" in t.capabilities.tags && t.capabilities.requires_network)`:                                                      record.VerdictAllow,
		`catalog.exists(t, t.id == "go-vet" && t.capabilities.sandbox_profile == "lint-offline")`:                                                        record.VerdictDeny,
		`!catalog.exists(t, t.id == tool.id)`: record.VerdictDeny,
	} {
		if got, _ := verdict(when); got != want {
			t.Errorf("%s: %s", when, got)
		}
	}
	_, digest := verdict(`catalog.exists(t, t.managed)`)
	was := catalogDigest.Make
	defer func() { catalogDigest = lazy.Value[string]{Make: was} }()
	catalogDigest = lazy.Value[string]{Make: func() string { return "another" }}
	if _, other := verdict(`catalog.exists(t, t.managed)`); other == digest {
		t.Error("the digest does not depend on the catalog")
	}
	if _, other := verdict(`tool.managed`); digest == other {
		t.Error("two sets have one digest")
	}
}
