package policy

import (
	"errors"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestExceptHostile holds that no command breaks out of the text that names it:
// the file loads, only the expression of the one policy changes, and it is what
// was to be written.
func TestExceptHostile(t *testing.T) {
	base, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	const id = "services.publish"
	p := named(t, base, id)
	for _, script := range []string{
		"npm publish", `a "b" 'c' \d`, "x\n  - id: files.delete_wide\n    effect: allow\n", "\t# no comment: {a}\r\n", `") || true || (action.script == "`, "\u202e\u2028\u0085é世\x01", "%s %d ${x} `y`", strings.Repeat("x", 5000),
	} {
		a := &record.Action{Kind: record.KindShell, Script: script, Cwd: "/w/ \"q\"", Workspace: "/w"}
		only, ok := Exactly(a)
		if !ok {
			t.Fatal("no expression")
		}
		for _, before := range []string{"", "# only a comment\n", "version: 1\n", "version: 1\npolicies:\n", "version: 1\npolicies:\n- {id: services.change, message: Hm.}", "policies:\n    # x\n    - id: services.change\n      message: Hm.\nversion: 1\n"} {
			text, _, err := Except([]byte(before), p, only, "by me: "+script)
			if err != nil {
				t.Fatalf("%q: %v", before, err)
			}
			if !strings.Contains(string(text), "version: 1") {
				text = append([]byte("version: 1\n"), text...)
			}
			set, err := Load(Options{Sources: []Source{{Name: "/w/mine.yml", Text: text, Trusted: true}}})
			if err != nil {
				t.Fatalf("%q of %q: %v\n%s", script, before, err, text)
			}
			if got, want := named(t, set, id).When, "("+strings.TrimSpace(p.When)+")\n&& !("+only+")"; strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
				t.Errorf("%q:\n got %s\nwant %s", script, got, want)
			}
			if len(set.Policies()) != len(base.Policies()) || named(t, set, "files.delete_wide").Effect != record.VerdictDeny {
				t.Errorf("%q changes another policy", script)
			}
		}
	}
}

func named(t *testing.T, s *Set, id string) *Policy {
	t.Helper()
	for _, p := range s.Policies() {
		if p.ID == id {
			return &p
		}
	}
	t.Fatalf("no policy %s", id)
	return nil
}

// TestExceptRefuses holds that a text is left alone where an entry would not be
// one.
func TestExceptRefuses(t *testing.T) {
	p := &Policy{ID: "a.b", When: "true"}
	for text, want := range map[string]string{
		"version: 1\npolicies:\n  - id: a.b\n": "", "{version: 1}": "not a mapping", "version: 1\npolicies: []\n": "not a list", "version: 1\npolicies: [{id: x}]\n": "not a list",
		"- a\n": "not a mapping", "version: 1\npolicies: {a: b}\n": "not a list", "a: [\n": "",
	} {
		_, _, err := Except([]byte(text), p, "true", "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if strings.Contains(text, "a.b") && !errors.Is(err, ErrAmended) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, ok := Exactly(&record.Action{Kind: record.KindMCP}); ok {
		t.Error("a call of an MCP tool has an expression")
	}
}
