package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
)

// shellInput is a record of a script that runs one command.
func shellInput(words ...string) Input {
	c := record.Command{Raw: strings.Join(words, " "), Line: 1, Column: 1}
	for i := range words {
		c.Argv = append(c.Argv, &words[i])
	}
	if len(words) > 0 {
		c.Name, c.Path = words[0], words[0]
	}
	return Input{
		Action: &record.Action{Kind: record.KindShell, Script: c.Raw, Cwd: "/w", Workspace: "/w"},
		Actor:  &record.Actor{Mode: record.ModeSafe},
		Facts:  &record.Facts{Shell: record.Shell{IR: "1", Parsed: true, Commands: []record.Command{c}}},
	}
}

// consumer loads policies of the given effects and expressions, named p0, p1 ….
func consumer(t *testing.T, bounds Bounds, effectAndWhen ...string) *Set {
	t.Helper()
	text := strings.Builder{}
	text.WriteString(head)
	for i := 0; i < len(effectAndWhen); i += 2 {
		fmt.Fprintf(&text, "  - {id: p%d, principle: person-decides, effect: %s, message: m, remedy: r, when: %q}\n", i/2, effectAndWhen[i], effectAndWhen[i+1])
	}
	set, err := Load(Options{Sources: []Source{{Name: "c.yml", Text: []byte(text.String()), Trusted: true}}, Bounds: bounds})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestStrictestWinsAndAllAreReported(t *testing.T) {
	set := consumer(t, Bounds{}, "allow", "true", "warn", "runs(shell, 'ls')", "deny", "shell.parsed", "ask", "action.cwd == '/w'", "deny", "false")
	d := set.Decide(context.Background(), shellInput("ls"))
	var got []string
	for _, m := range d.Matches {
		got = append(got, m.ID+" "+m.Effect)
	}
	if want := []string{"p2 deny", "p3 ask", "p1 warn", "p0 allow"}; d.Verdict != record.VerdictDeny || !slices.Equal(got, want) {
		t.Errorf("verdict %s, matches %q, wanted %q", d.Verdict, got, want)
	}
	if m := d.Matches[0]; m.File != "c.yml" || m.Line != 5 || m.Pack != Local || m.Message != "m" || m.Remedy != "r" || m.Principle != "person-decides" {
		t.Errorf("match %+v", m)
	}
}

func TestVerdicts(t *testing.T) {
	for effect, want := range map[string]string{"deny": "deny", "ask": "ask", "warn": "warn", "allow": "allow"} {
		if d := consumer(t, Bounds{}, effect, "true").Decide(context.Background(), shellInput("ls")); d.Verdict != want {
			t.Errorf("%s: %s", effect, d.Verdict)
		}
	}
}

// TestFailsClosed is the matrix of what cannot be decided.
func TestFailsClosed(t *testing.T) {
	without := func(change func(*Input)) Input {
		in := shellInput("ls", "-la")
		change(&in)
		return in
	}
	slow := "shell.commands[0].argv.exists(a, " + strings.Repeat("shell.commands[0].argv.exists(b, ", 5) + "a == b + 'x'" + strings.Repeat(")", 6)
	many := without(func(in *Input) {
		for i := range 60 {
			word := fmt.Sprint(i)
			in.Facts.Shell.Commands[0].Argv = append(in.Facts.Shell.Commands[0].Argv, &word)
		}
	})
	incomplete := func(code string) Input {
		return without(func(in *Input) { in.Facts.Incomplete = []string{code} })
	}
	for _, c := range []struct {
		name   string
		when   string
		bounds Bounds
		in     Input
		code   string
	}{
		{"no facts", "false", Bounds{}, without(func(in *Input) { in.Facts = nil }), CodeNoFacts},
		{"no actor", "false", Bounds{}, without(func(in *Input) { in.Actor = nil }), CodeNoActor},
		{"unknown mode", "false", Bounds{}, without(func(in *Input) { in.Actor.Mode = "yolo" }), CodeNoActor},
		{"unknown kind", "false", Bounds{}, without(func(in *Input) { in.Action.Kind = "spell" }), CodeNoFacts},
		{"evaluation error", "shell.commands[7].name == 'x'", Bounds{}, shellInput("ls"), CodeError},
		{"error in a function", "glob(action.script, 'x')", Bounds{}, shellInput("a["), CodeError},
		{"error or false", "shell.commands[7].name == 'x' || action.cwd == '/x'", Bounds{}, shellInput("ls"), CodeError},
		{"not of an error", "!(shell.commands[7].name == 'x')", Bounds{}, shellInput("ls"), CodeError},
		{"division", "1 / size(git) == 1", Bounds{}, shellInput("ls"), CodeError},
		{"cost", slow, Bounds{Cost: 1000}, many, CodeCost},
		{"deadline", slow, Bounds{Deadline: time.Nanosecond}, many, CodeDeadline},
		{"parse error", "runs(shell, 'x')", Bounds{}, incomplete(record.IncompleteParse), CodeIncomplete},
		{"parse error, files", "size(files) > 3", Bounds{}, incomplete(record.IncompleteParse), CodeIncomplete},
		{"depth", "git.exists(g, g.subcommand == 'push')", Bounds{}, incomplete(record.IncompleteDepth), CodeIncomplete},
		{"unreadable configuration", "capabilities.network.mode == 'host'", Bounds{}, incomplete(record.IncompleteRepoConfig), CodeIncomplete},
		{"unknown profile", "capabilities.sandbox_profile == 'x'", Bounds{}, incomplete(record.IncompleteUnknownTool), CodeIncomplete},
		{"unreadable repository", "repo.branch == 'main'", Bounds{}, incomplete(record.IncompleteGitRepo), CodeIncomplete},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := consumer(t, c.bounds, "warn", c.when).Decide(context.Background(), c.in)
			if d.Verdict != record.VerdictDeny {
				t.Errorf("verdict %s", d.Verdict)
			}
			if !slices.ContainsFunc(d.Errors, func(e record.PolicyError) bool { return e.Code == c.code && e.Message != "" }) {
				t.Errorf("errors %+v, wanted %s", d.Errors, c.code)
			}
		})
	}
}

// TestWhatIsNotNeeded holds that a fact without a value stops only the policies that hang on it.
func TestWhatIsNotNeeded(t *testing.T) {
	for _, when := range []string{
		"actor.mode == 'plan'",
		"actor.mode == 'plan' && runs(shell, 'x')",
		"runs(shell, 'x') && actor.mode == 'plan'",
		"'nothing' in incomplete",
	} {
		set := consumer(t, Bounds{}, "deny", when)
		set.rules = slices.DeleteFunc(set.rules, func(r *rule) bool { return r.Pack == Core || r.Pack == Services })
		in := shellInput("ls")
		in.Facts.Incomplete = []string{record.IncompleteParse}
		if d := set.Decide(context.Background(), in); d.Verdict != record.VerdictAllow {
			t.Errorf("%s: %+v", when, d)
		}
	}
}

// TestErrorOrTrue holds what CEL's absorbing of errors means here: true wins over an error and matches, false wins over an error only where the
// expression is false whatever the failed part would have been.
func TestErrorOrTrue(t *testing.T) {
	const fails = "shell.commands[7].name == 'x'"
	for when, want := range map[string]string{
		fails + " || true":                          "match",
		"true || " + fails:                          "match",
		fails + " && false":                         "none",
		"false && " + fails:                         "none",
		fails + " && true":                          CodeError,
		fails + " || false":                         CodeError,
		fails + " ? true : true":                    CodeError,
		"[1, 2].exists(i, i == 2 || " + fails + ")": "match",
		"[1, 2].all(i, i == 2 && " + fails + ")":    "none",
		"[1, 2].exists(i, " + fails + ")":           CodeError,
	} {
		set := consumer(t, Bounds{}, "deny", when)
		d := set.Decide(context.Background(), shellInput("ls"))
		got := "none"
		switch {
		case len(d.Errors) > 0:
			got = d.Errors[0].Code
		case len(d.Matches) > 0:
			got = "match"
		}
		if got != want {
			t.Errorf("%s: %s, wanted %s", when, got, want)
		}
	}
}

func TestOnAndModes(t *testing.T) {
	p := Policy{}
	for _, kind := range Kinds() {
		if p.applies(kind, record.ModeSafe) != (kind != record.KindEvent) {
			t.Errorf("a policy on nothing in particular, on %s", kind)
		}
	}
	p = Policy{On: []string{record.KindEvent}, Modes: []string{record.ModeAuto}}
	if !p.applies(record.KindEvent, record.ModeAuto) || p.applies(record.KindEvent, record.ModeSafe) || p.applies(record.KindExec, record.ModeAuto) {
		t.Error("on and modes")
	}
}

func TestApproved(t *testing.T) {
	set := consumer(t, Bounds{}, "ask", "runs(shell, 'ls')", "ask", "runs(shell, 'rm')", "deny", "runs(shell, 'dd')", "deny", "runs(shell, 'cp') && !actor.admin_approved")
	for _, c := range []struct {
		command string
		ids     []string
		want    string
	}{
		{"ls", nil, "allow"},
		{"ls", []string{"p0"}, "allow"},
		{"ls", []string{"p1"}, "ask"},
		{"dd", nil, "allow"},
		{"dd", []string{"p2"}, "allow"},
		{"dd", []string{"p0"}, "deny"},
		{"cp", nil, "allow"},
	} {
		in := shellInput(c.command)
		in.Actor.AdminApproved = true
		if d := set.Approved(set.Decide(context.Background(), in), c.ids); d.Verdict != c.want {
			t.Errorf("%s %q: %s, wanted %s", c.command, c.ids, d.Verdict, c.want)
		}
	}
	for _, r := range set.rules {
		r.Protected = true
	}
	for command, want := range map[string]string{"dd": "deny", "cp": "allow"} {
		in := shellInput(command)
		in.Actor.AdminApproved = true
		if d := set.Approved(set.Decide(context.Background(), in), nil); d.Verdict != want {
			t.Errorf("protected: %s: %s, wanted %s", command, d.Verdict, want)
		}
	}
	in := shellInput("ls")
	in.Facts.Incomplete = []string{record.IncompleteParse}
	if d := set.Approved(set.Decide(context.Background(), in), nil); d.Verdict != record.VerdictDeny {
		t.Errorf("an approval answered an error: %s", d.Verdict)
	}
}

func TestNullWords(t *testing.T) {
	in := shellInput("echo", "x")
	in.Facts.Shell.Commands[0].Argv = append(in.Facts.Shell.Commands[0].Argv, nil)
	d := consumer(t, Bounds{}, "deny", "shell.commands.exists(c, c.argv[2] == '' && unresolved(c)) && !runs(shell, 'echo', [''])").Decide(context.Background(), in)
	if len(d.Matches) != 1 {
		t.Errorf("%+v", d)
	}
}

func TestDeterministic(t *testing.T) {
	set := consumer(t, Bounds{}, "deny", "true", "ask", "true", "warn", "shell.parsed")
	in := shellInput("rm", "-rf", "/")
	in.Facts.Shell.Writes = []record.PathUse{{Path: "/", Op: "delete", By: "rm", Certain: true}}
	first := fmt.Sprint(set.Decide(context.Background(), in))
	for range 20 {
		if again := fmt.Sprint(set.Decide(context.Background(), in)); again != first {
			t.Fatalf("%s\n%s", first, again)
		}
	}
}

// TestEveryBlindSpotHasAWayOut holds that what cannot be judged is told with what
// to do about it.
func TestEveryBlindSpotHasAWayOut(t *testing.T) {
	codes := []string{codeFindings}
	for _, spot := range blindSpots {
		codes = append(codes, spot.code)
	}
	for _, code := range codes {
		if what, way, ok := strings.Cut(ways.Get()[code], ": "); !ok || what == "" || way == "" {
			t.Errorf("%s: %q", code, ways.Get()[code])
		}
	}
}
