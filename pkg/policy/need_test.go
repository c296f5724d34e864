package policy

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"ethos/pkg/record"
)

// inWords spells a need.
func (n need) inWords() string {
	switch n.op {
	case always, never:
		return opNames[n.op]
	case all, anyOf:
		var parts []string
		for _, p := range n.of {
			parts = append(parts, p.inWords())
		}
		return opNames[n.op] + "(" + strings.Join(parts, " ") + ")"
	}
	return strings.TrimSuffix(opNames[n.op]+" "+factTable[n.fact].name+" "+n.value, " ")
}

func TestNeeds(t *testing.T) {
	for when, want := range map[string]string{
		"true":                                                   "always",
		"false":                                                  "never",
		"actor.admin_approved":                                   "always",
		"runs(shell, 'rm')":                                      "equals Command.name rm",
		"runs(shell, 'rm', ['-rf'])":                             "all(equals Command.name rm equals Command.argv -rf)",
		"'cd' in shell.risks":                                    "equals Shell.risks cd",
		"tool.managed":                                           "equals Tool.managed true",
		"!tool.managed":                                          "equals Tool.managed false",
		"action.url != ''":                                       "differs Action.url",
		"actor.mode == 'auto'":                                   "equals Actor.mode auto",
		"'auto' == actor.mode":                                   "equals Actor.mode auto",
		"actor.mode in ['a', 'b']":                               "anyOf(equals Actor.mode a equals Actor.mode b)",
		"touches(files, ['a', 'b/**'])":                          "anyOf(touched files a touched files b/**)",
		"touches(shell.writes, ['{a,b}'])":                       "anyOf(touched Shell.writes a touched Shell.writes b)",
		"touches(shell.writes, shell.risks)":                     "someValue Shell.writes",
		"touches(shell.writes, paths.ethos)":                     "touchedIn Shell.writes paths.ethos",
		"files.exists(f, touches([f], ['a']))":                   "all(someValue files touched files a)",
		"shell.reads.exists(r, names(paths.ethos, r.path))":      "all(someValue Shell.reads namesIn PathUse.path paths.ethos)",
		"names(paths.ethos + ['x'], action.url)":                 "always",
		"size(git) > 0":                                          "someValue git",
		"false && size(git) > 0":                                 "never",
		"size(git) > 0 && 'cd' in shell.risks":                   "all(someValue git equals Shell.risks cd)",
		"size(git) > 0 || 'cd' in shell.risks":                   "anyOf(someValue git equals Shell.risks cd)",
		"false || 'cd' in shell.risks":                           "equals Shell.risks cd",
		"size(git) > 1":                                          "always",
		"size(git) > 1 && 'cd' in shell.risks":                   "equals Shell.risks cd",
		"size(git) > 1 || 'cd' in shell.risks":                   "always",
		"git.size() > 0":                                         "always",
		"size(unseen(shell, git)) > 0":                           "always",
		"ethos.exists(e, size(e.unknown) > 0)":                   "all(someValue ethos someValue Ethos.unknown)",
		"files.exists(f, f.outside)":                             "all(someValue files equals File.outside true)",
		"shell.writes.exists(w, w.outside || !w.certain)":        "all(someValue Shell.writes anyOf(equals PathUse.outside true equals PathUse.certain false))",
		"git.exists(g, 'amend' in g.dangers)":                    "all(someValue git equals Git.dangers amend)",
		"git.exists(g, g.dangers.exists(d, d in ['x', 'y']))":    "all(someValue git someValue Git.dangers anyOf(equals Git.dangers x equals Git.dangers y))",
		"(shell.reads + shell.writes).exists(w, w.op == 'read')": "equals PathUse.op read",
		"shell.commands.exists(c, glob('mkfs.*', c.name))":       "all(someValue Shell.commands matches Command.name mkfs.*)",
		"shell.commands.exists(c, !c.opaque && c.code == 'x')":   "all(someValue Shell.commands equals Command.opaque false equals Command.code x)",
		"shell.commands.all(c, c.name == 'rm')":                  "always",
		"!shell.commands.exists(c, c.name == 'rm')":              "always",
		"['rm'].exists(n, runs(shell, n))":                       "always",
		"actor.mode == 'x' ? true : false":                       "always",
		"shell.commands[0].name == 'x'":                          "always",
		"git.filter(g, g.subcommand == 'x').size() > 0":          "always",
		"capabilities.network.mode == 'host'":                    "equals capabilities.network.mode host",
		"tool_capabilities.network.mode == 'host'":               "equals Network.mode host",
		"tool.capabilities.network.mode == 'host'":               "equals Network.mode host",
		"['x'].exists(capabilities, capabilities == 'x')":        "always",
		"has(action.file) && action.kind == 'file'":              "equals Action.kind file",
	} {
		checked, mistakes := compile(when)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", when, mistakes)
			continue
		}
		if got := needOf(checked).inWords(); got != want {
			t.Errorf("%s: %s, wanted %s", when, got, want)
		}
	}
}

// TestFactsAreFields holds the names of facts against the types they are spelled after.
func TestFactsAreFields(t *testing.T) {
	v := words()
	for _, f := range factTable[1:] {
		if f.name == networkMode {
			continue // TestNeeds has it
		}
		typeName, field, isField := strings.Cut(f.name, ".")
		if !isField {
			if _, ok := variable(f.name); !ok {
				t.Errorf("%s is no variable", f.name)
			}
			continue
		}
		st, ok := v.named(typePrefix + typeName)
		if !ok {
			t.Errorf("%s: no such type", f.name)
			continue
		}
		if _, ok := st.fields[field]; !ok {
			t.Errorf("%s: no such field", f.name)
		}
	}
}

// TestNetworkModeOfTheAction holds that a tool which the catalog lets use the network does not meet
// the need of a policy about what the action may use.
func TestNetworkModeOfTheAction(t *testing.T) {
	checked, _ := compile(`capabilities.network.mode in ["proxy", "host"]`)
	n := needOf(checked)
	for _, test := range []struct {
		action, tool string
		want         bool
	}{{"loopback", "proxy", false}, {"proxy", "loopback", true}, {"host", "", true}, {"", "", false}} {
		in := Input{Action: &record.Action{}, Actor: &record.Actor{}, Facts: &record.Facts{}}
		in.Facts.Capabilities.Network.Mode, in.Facts.Tool.Capabilities.Network.Mode = test.action, test.tool
		if n.met(&sight{in: &in}) != test.want {
			t.Errorf("action %q, tool %q: not %v", test.action, test.tool, test.want)
		}
		x := expression{checked: checked}
		if got := x.eval(context.Background(), newActivation(&in), nil, Bounds{}.orDefault()); got.code != "" || got.matched != test.want {
			t.Errorf("action %q, tool %q: evaluated to %+v", test.action, test.tool, got)
		}
	}
}

func TestReadsOf(t *testing.T) {
	checked, _ := compile("git.exists(g, g.subcommand == repo.branch) && [1].exists(shell, shell == 1)")
	if got := fmt.Sprint(readsOf(checked)); got != "[git repo]" && got != "[git repo shell]" {
		t.Error(got)
	}
}

// TestShippedAreTyped holds that no part of a shipped expression is of a type that is found only while it runs.
func TestShippedAreTyped(t *testing.T) {
	set, err := LoadShipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.rules {
		for id, typ := range r.expr.checked.TypeMap() {
			if holdsDyn(typ) {
				t.Errorf("%s: part %d is %s", r.ID, id, typ)
			}
		}
	}
}

func holdsDyn(t *types.Type) bool {
	if t.Kind() == types.DynKind || t.Kind() == types.AnyKind {
		return true
	}
	return slices.ContainsFunc(t.Parameters(), holdsDyn)
}

// TestPackedForms holds that pack and unpack agree on every kind of node.
func TestPackedForms(t *testing.T) {
	for _, when := range []string{
		"true", "1 == -2", "2u > 1u", "1.5 < 2.0", "b'x' == b'y'", "'a' != \"b\\n\"", "null == null", "has(action.file)", "{'a': 1}['a'] == 1", "[1, 2][0] == 1",
		"git.map(g, g.subcommand).exists_one(s, s == 'x')", "'a'.startsWith('b') && !'c'.contains('d')", "shell.commands.all(c, c.argv.size() > 0) ? true : false",
	} {
		checked, mistakes := compile(when)
		if len(mistakes) > 0 {
			t.Fatalf("%s: %v", when, mistakes)
		}
		packed, err := pack(checked)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		again, err := unpack(string(packed))
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		in := shellInput("ls")
		one := (&expression{checked: checked}).eval(t.Context(), newActivation(&in), nil, Bounds{}.orDefault())
		two := (&expression{checked: again}).eval(t.Context(), newActivation(&in), nil, Bounds{}.orDefault())
		if one != two || one.code != "" {
			t.Errorf("%s: %+v, unpacked %+v", when, one, two)
		}
		for i := range packed {
			if _, err := unpack(string(packed[:i])); err == nil {
				t.Errorf("%s: cut to %d bytes it still unpacks", when, i)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte(compiled[:min(len(compiled), 600)]))
	f.Fuzz(func(t *testing.T, packed []byte) {
		a, err := unpack(string(packed))
		if err != nil {
			return
		}
		again, err := pack(a)
		if err != nil {
			return // what pack refuses to write, such as an unspecified node
		}
		if b, err := unpack(string(again)); err != nil || b.Expr().Kind() == ast.UnspecifiedExprKind {
			t.Fatalf("%x: %v", again, err)
		} else if third, err := pack(b); err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%x, %x: %v", again, third, err)
		}
	})
}

func TestBlind(t *testing.T) {
	for _, c := range []struct {
		kind, code string
		git        []record.Git
		want       string
	}{
		{record.KindShell, record.IncompleteParse, nil, "shell git files ethos services"},
		{record.KindFile, record.IncompleteParse, nil, ""},
		{record.KindFile, record.IncompleteFile, nil, "files"},
		{record.KindShell, record.IncompleteFile, nil, ""},
		{record.KindShell, record.IncompleteUnresolved, nil, ""},
		{record.KindShell, record.IncompleteOpaque, nil, ""},
		{record.KindShell, record.IncompleteGitTarget, nil, ""},
		{record.KindShell, record.IncompleteGitRepo, nil, "repo"},
		{record.KindShell, record.IncompleteGitRepo, []record.Git{{Class: []string{"read"}}}, "repo"},
		{record.KindShell, record.IncompleteGitRepo, []record.Git{{Class: []string{"refs"}}}, "repo git"},
		{record.KindExec, record.IncompleteRepoConfig, nil, "repo tool capabilities tool_capabilities"},
	} {
		in := shellInput("ls")
		in.Action.Kind, in.Facts.Incomplete, in.Facts.Git = c.kind, []string{c.code}, c.git
		vars, _ := blind(&in)
		if got := strings.Join(vars, " "); got != c.want {
			t.Errorf("%s %s: %q, wanted %q", c.kind, c.code, got, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	set := consumer(t, Bounds{}, "deny", "shell.parsed && (runs(shell, 'rm') || actor.mode == 'auto')", "warn", "shell.commands[9].name == 'x'", "deny", "size(files) > 0")
	in := shellInput("ls")
	got, err := set.Explain(t.Context(), in, "p0", "p1", "p2")
	if err != nil || len(got) != 3 {
		t.Fatalf("%v %v", got, err)
	}
	if e := got[0]; e.Matched || !e.Skipped || fmt.Sprint(e.Parts) != `[{shell.parsed true} {runs(shell, "rm") false} {actor.mode == "auto" false}]` {
		t.Errorf("%+v", e)
	}
	if e := got[0]; len(e.Read) != 3 || e.Read[0].Text != "shell.parsed" || e.Read[1].Text != "shell" || e.Read[2] != (Part{"actor.mode", `"safe"`}) {
		t.Errorf("%+v", e.Read)
	}
	if e := got[1]; e.Code != CodeError || !strings.HasPrefix(e.Parts[0].Value, "error: ") {
		t.Errorf("%+v", e)
	}
	in.Facts.Incomplete = []string{record.IncompleteParse}
	if got, err = set.Explain(t.Context(), in, "p2"); err != nil || got[0].Code != CodeIncomplete || got[0].Parts[0].Value != "unknown" {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := set.Explain(t.Context(), in, "nothing"); err == nil {
		t.Error("an unknown policy was explained")
	}
	in.Facts = nil
	if _, err := set.Explain(t.Context(), in); err == nil {
		t.Error("a record without facts was explained")
	}
}

func TestScratch(t *testing.T) {
	for path, want := range map[string]bool{
		"build": true, "build/x": true, "a/dist/b": true, "node_modules": true, "/tmp/x": true, "/tmp": false, "$TMPDIR/x": true, "$(mktemp -d)": true, "$(mktemp -d)/x": true,
		"src/x.go": false, "x.log": true, ".log": false, "~/build": false, "/build": false, "../build": false, "$X/build": false, "": false, "builder/x": false,
	} {
		if isScratch(path) != want {
			t.Errorf("%q: not %v", path, want)
		}
	}
}

func TestExecutesFile(t *testing.T) {
	for command, want := range map[string]bool{
		"./x.sh": true, "x.sh": true, "bash x.sh": true, "bash -x ./x.sh a": true, "python3 x.sh": true, "cat x.sh": false, "bash y.sh": false, "echo bash x.sh": false,
	} {
		s := shellInput(strings.Fields(command)...).Facts.Shell
		if executesFile(&s, "x.sh") != want {
			t.Errorf("%s: not %v", command, want)
		}
	}
}
