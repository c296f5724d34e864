package policy

import (
	"errors"
	"strings"
	"testing"
)

const head = "version: 1\npolicies:\n"

// entry is a policy that is right; replacements make it wrong.
const entry = `  - id: mine.no_make
    principle: person-decides
    effect: deny
    when: runs(shell, "make")
    message: No make.
    remedy: Use ninja.
`

func loadText(t *testing.T, text string) (*Set, error) {
	t.Helper()
	return Load(Options{Sources: []Source{{Name: "mine.yml", Text: []byte(text), Trusted: true}}})
}

func TestLoadAddsAndSeals(t *testing.T) {
	set, err := loadText(t, head+entry)
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := Load(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if set.Digest() == shipped.Digest() {
		t.Error("another policy, the same digest")
	}
	again, err := loadText(t, head+"\n\n"+entry)
	if err != nil || again.Digest() != set.Digest() {
		t.Errorf("the place of a policy changed the digest: %v", err)
	}
	if got := set.Packs(); len(got) != 3 || got[0] != Core || got[1] != Services || got[2] != Local {
		t.Errorf("packs: %q", got)
	}
}

func TestLoadFaults(t *testing.T) {
	change := func(old, new string) string { return head + strings.Replace(entry, old, new, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "mine.yml: the file is empty"},
		{"not yaml", "version: 1\n\tpolicies: []\n", "mine.yml:2:1: "},
		{"two documents", "version: 1\n---\nversion: 1\n", "mine.yml:2:1: a policy file holds one YAML document"},
		{"list", "- a\n", "mine.yml:1:1: the file must be a mapping"},
		{"no version", "policies: []\n", `mine.yml:1:1: the file has no "version"`},
		{"other version", "version: 2\n", "mine.yml:1:10: version must be 1"},
		{"unknown key", "version: 1\npolices: []\n", `mine.yml:2:1: unknown key "polices" in the file; did you mean "policies"?`},
		{"unknown policy key", change("when:", "wen:"), `mine.yml:6:5: unknown key "wen" in a policy; did you mean "when"?`},
		{"key twice", change("    remedy", "    message: Again.\n    remedy"), `mine.yml:8:5: key "message" occurs twice in a policy`},
		{"id twice", head + entry + entry, `mine.yml:9:9: policy "mine.no_make" is already defined at mine.yml:3`},
		{"unknown principle", change("person-decides", "person-decide"), `mine.yml:4:16: unknown principle "person-decide"; did you mean "person-decides"?`},
		{"unknown effect", change("deny", "block"), `mine.yml:5:13: effect: "block" is none of allow, warn, ask, deny`},
		{"missing", change("    remedy: Use ninja.\n", ""), `mine.yml:3:5: policy "mine.no_make" has no "remedy"`},
		{"empty text", change("Use ninja.", `""`), "mine.yml:8:13: remedy is empty"},
		{"number", change("No make.", "12"), "mine.yml:7:14: message must be a string: quote it"},
		{"odd id", change("mine.no_make", "mine/x"), `a policy's id "mine/x" may hold letters`},
		{"alias", head + strings.Replace(entry, "No make.", "&m No make.", 1), "anchors and aliases are not supported"},
		{"shipped pack", change("    effect", "    pack: core\n    effect"), `mine.yml:5:11: pack "core" is shipped`},
		{"unknown kind", change("    effect", "    on: [exe]\n    effect"), `"exe" is none of exec`},
		{"kind twice", change("    effect", "    on: [exec, exec]\n    effect"), `names "exec" twice`},
		{"no kinds", change("    effect", "    on: []\n    effect"), "on is empty"},
		{"not bool", change(`runs(shell, "make")`, "size(git)"), `policy "mine.no_make": when: when must be a bool, this is int`},
		{"unknown list", change(`runs(shell, "make")`, "touches(files, paths.foo)"), `mine.yml:6:26: policy "mine.no_make": when: undeclared reference to 'paths.foo': the lists are paths.agent_settings, `},
		{"unknown variable", change(`runs(shell, "make")`, "shel.parsed"), `mine.yml:6:11: policy "mine.no_make": when: undeclared reference to 'shel'`},
		{"unknown field", change(`runs(shell, "make")`, "shell.parse"), `mine.yml:6:16: policy "mine.no_make": when: undefined field 'parse'`},
		{"wrong type", change(`runs(shell, "make")`, "actor.mode == 1"), `mine.yml:6:22: policy "mine.no_make": when: found no matching overload`},
		{"syntax", change(`runs(shell, "make")`, "shell.parsed &&"), `policy "mine.no_make": when: Syntax error`},
		{"pattern", change(`runs(shell, "make")`, `glob("a[", actor.mode)`), `mine.yml:6:16: policy "mine.no_make": when: "a[" is not a well-formed pattern`},
		{"regular expression", change(`runs(shell, "make")`, `actor.mode.matches("(")`), "invalid matches argument"},
		{"constructed type", change(`runs(shell, "make")`, `'ethos.Git{subcommand: "x"} in git'`), "is not supported in a policy"},
		{"two actions", head + entry + "    examples: {deny: [{command: a, url: b}]}\n", "an example has exactly one of"},
		{"unknown pack", "version: 1\npacks: [cor]\n", `packs: "cor" is none of core`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadText(t, c.text)
			if err == nil {
				t.Fatal("loaded")
			}
			if !IsFault(err) {
				t.Errorf("not a fault: %T", err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got\n%s\nwanted\n%s", err, c.want)
			}
		})
	}
}

func TestFaultShowsTheLine(t *testing.T) {
	_, err := loadText(t, head+strings.Replace(entry, `runs(shell, "make")`, ">-\n      actor.mode == \"safe\"\n      && shell.pars", 1))
	want := "mine.yml:8:15: policy \"mine.no_make\": when: undefined field 'pars'\n" +
		"  8 |       && shell.pars\n" +
		"    |               ^"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwanted\n%s", err, want)
	}
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 1 {
		t.Errorf("faults: %v", faults)
	}
}

func TestAmend(t *testing.T) {
	const id = "  - id: git.hook_bypass\n"
	for _, c := range []struct{ name, text, want string }{
		{"other message", id + "    message: Hooks run here.\n", ""},
		{"more kinds", id + "    on: [exec, shell, mcp]\n", ""},
		{"same effect", id + "    effect: deny\n", ""},
		{"weaker", id + "    effect: warn\n", `policy "git.hook_bypass" is protected: its effect is deny and can only become stricter`},
		{"expression", id + "    when: \"false\"\n", "its expression cannot be changed"},
		{"fewer kinds", id + "    on: [exec]\n", "it can be on more kinds of action, not on fewer"},
		{"fewer modes", id + "    modes: [plan]\n", "it can hold in more modes, not in fewer"},
		{"unprotected", id + "    protected: false\n", "it stays so"},
		{"other pack", id + "    pack: mine\n", `is of pack "core"`},
		{"twice", id + "    message: One.\n" + id + "    message: Two.\n", "is already defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadText(t, head+c.text)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, wanted %q", err, c.want)
			}
		})
	}
}

func TestUnknownPack(t *testing.T) {
	_, err := Load(Options{Packs: []string{"cor"}})
	if err == nil || !strings.Contains(err.Error(), `unknown policy pack "cor"; did you mean "core"?`) {
		t.Errorf("got %v", err)
	}
}

func TestSecondFileCannotRedefine(t *testing.T) {
	_, err := Load(Options{Sources: []Source{{Name: "a.yml", Text: []byte(head + entry)}, {Name: "b.yml", Text: []byte(head + entry)}}})
	if err == nil || !strings.Contains(err.Error(), `b.yml:3:9: policy "mine.no_make" is already defined at a.yml:3`) {
		t.Errorf("got %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(head + entry)
	f.Add("version: 1\npolicies: [{id: a, when: \"x\"}]")
	f.Add("version: 1\npolicies:\n  - {id: git.hook_bypass, effect: allow}")
	f.Add(macros + head[len("version: 1\n"):] + strings.Replace(entry, `runs(shell, "make")`, `shell.commands.exists(c, named(c, "make"))`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Load(Options{Sources: []Source{{Name: "f.yml", Text: []byte(text), Trusted: true}}})
		if (set == nil) == (err == nil) {
			t.Fatalf("set %v, error %v", set, err)
		}
		if err != nil && !IsFault(err) {
			t.Fatalf("not a fault: %v", err)
		}
	})
}
