package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// corpus is where the commands lie.
const corpus = "../../testdata/policies/"

func samples(t testing.TB, name string) []sample {
	t.Helper()
	all, err := readCorpus(corpus + name)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func newCourt(t *testing.T) *court {
	t.Helper()
	b, err := decide.NewBench()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return &court{b, map[string]*policy.Set{}}
}

// loaded are the packs that decide together.
func loaded(t *testing.T, packs ...string) *policy.Set {
	t.Helper()
	set, err := policy.Load(policy.Options{Packs: packs})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// record makes the record of a command.
func (c *court) record(t *testing.T, command, mode string) policy.Input {
	t.Helper()
	in, err := c.input(context.Background(), command, mode)
	if err != nil {
		t.Fatalf("%q: %v", command, err)
	}
	return in
}

// TestCorpora holds that ordinary commands pass, all of them, and that every harmful one is refused by the policy it was written for; it shows the tables.
func TestCorpora(t *testing.T) {
	var out bytes.Buffer
	wrong, err := (&checkCmd{Everyday: []string{corpus + "everyday.txt", corpus + "programs-everyday.txt"}, Harmful: []string{corpus + "harmful.txt", corpus + "programs.txt"}}).corpora(
		context.Background(), &cli.System{Stdout: &out}, newCourt(t).Bench)
	if err != nil || wrong > 0 {
		t.Errorf("%d wrong, %v", wrong, err)
	}
	if everyday, harmful := len(samples(t, "everyday.txt")), len(samples(t, "harmful.txt")); everyday < 500 || harmful < 300 {
		t.Errorf("%d everyday commands, %d harmful ones", everyday, harmful)
	}
	if programs := len(samples(t, "programs.txt")); programs < 1000 {
		t.Errorf("%d commands of programs that read, write and start what is protected", programs)
	}
	t.Logf("\n%s", out.String())
}

// TestShippedExamples holds that every example in the shipped packs is right, and that they see nearly every part of every expression both true and false.
func TestShippedExamples(t *testing.T) {
	shorttest.Long(t)
	set, err := policy.LoadShipped()
	if err != nil {
		t.Fatal(err)
	}
	report, err := set.Check(context.Background(), newCourt(t).Facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range report.Wrong {
		t.Error(wrong)
	}
	if c := report.Coverage; c.Both*100 < c.Parts*97 {
		t.Errorf("%d of %d parts were seen true and false:\n%s", c.Both, c.Parts, strings.Join(c.Missing, "\n"))
	}
}

// soundnessStep spares time: every part of every expression is evaluated, which is a hundred times the work of a decision.
const soundnessStep = 29

// TestNeedsAreSound holds that an expression whose need is not met is false of the record when it is evaluated all the same, on commands of
// both corpora, for every policy.
func TestNeedsAreSound(t *testing.T) {
	shorttest.Long(t)
	c, set := newCourt(t), loaded(t, policy.Packs()...)
	skipped, evaluated := 0, 0
	for i, s := range append(samples(t, "everyday.txt"), samples(t, "harmful.txt")...) {
		if i%soundnessStep != 0 {
			continue
		}
		explained, err := set.Explain(context.Background(), c.record(t, s.command, record.ModeSafe))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range explained {
			evaluated++
			if e.Skipped {
				skipped++
			}
			if e.Skipped && (e.Matched || e.Code != "") {
				t.Errorf("%s: %s: skipped, but %v %s", e.Policy.ID, s.command, e.Matched, e.Message)
			}
		}
	}
	if skipped*2 < evaluated {
		t.Errorf("only %d of %d evaluations were spared", skipped, evaluated)
	}
	t.Logf("%d of %d evaluations were spared", skipped, evaluated)
}

// TestOrdinaryCommandsCostNothing holds that no expression is evaluated for the commands that agents run most.
func TestOrdinaryCommandsCostNothing(t *testing.T) {
	c, set := newCourt(t), loaded(t)
	for _, command := range []string{"ls -la", "cat README.md", "git status", "git diff", "grep -rn x src", "echo hi", "cd src && ls", "sed -n 1,20p src/main.go", "find . -name '*.go' | head",
		"git add . && git commit -m x", "git push", "sed 's/a/b/' README.md > out.txt"} {
		explained, err := set.Explain(context.Background(), c.record(t, command, record.ModeSafe))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range explained {
			if e.Asked && !e.Skipped {
				t.Errorf("%s: %s is evaluated", command, e.Policy.ID)
			}
		}
	}
}

// TestModesAreMonotone holds that what a stricter mode allows, every looser one allows too, on both corpora with the packs that the modes stand for.
func TestModesAreMonotone(t *testing.T) {
	c, set, counts := newCourt(t), loaded(t, "trust", "verify"), tally{}
	for _, s := range shorttest.Sample(append(samples(t, "everyday.txt"), samples(t, "harmful.txt")...), 5) {
		stricter := ""
		for _, mode := range policy.Modes() {
			d := set.Decide(context.Background(), c.record(t, s.command, mode))
			counts.count(mode, decide.Allows(d.Verdict))
			switch {
			case decide.Allows(d.Verdict):
				stricter = mode
			case stricter != "":
				t.Errorf("%s\n\tallowed in %s, but in %s %s: %s", s.command, stricter, mode, d.Verdict, causes(d))
			}
		}
	}
	for _, a := range otherActions() {
		stricter := ""
		for _, mode := range policy.Modes() {
			by := record.Actor{Agent: "claude", Mode: mode}
			action, facts, err := c.Facts(context.Background(), a, by)
			if err != nil {
				t.Fatal(err)
			}
			d := set.Decide(context.Background(), policy.Input{Action: &action, Actor: &by, Facts: &facts})
			if decide.Allows(d.Verdict) {
				stricter = mode
			} else if stricter != "" {
				t.Errorf("%s: allowed in %s, but in %s %s: %s", inShort(a), stricter, mode, d.Verdict, causes(d))
			}
		}
	}
	t.Logf("both corpora under core, trust and verify:\n%s", counts)
}

// subAgentStep spares time: each command is decided under every pair of modes.
const subAgentStep = 13

// TestSubAgentsOnlyNarrow holds that what a sub-agent is allowed, an actor of its own mode is allowed too, and so is one of its parent's mode.
func TestSubAgentsOnlyNarrow(t *testing.T) {
	shorttest.Long(t)
	c, set, narrowed := newCourt(t), loaded(t, "trust", "verify"), 0
	allowed := func(command string, by record.Actor) bool {
		action, facts, err := c.Facts(context.Background(), record.Action{Kind: record.KindShell, Script: command}, by)
		if err != nil {
			t.Fatal(err)
		}
		return decide.Allows(set.Decide(context.Background(), policy.Input{Action: &action, Actor: &by, Facts: &facts}).Verdict)
	}
	for i, s := range append(samples(t, "everyday.txt"), samples(t, "harmful.txt")...) {
		if i%subAgentStep != 0 {
			continue
		}
		alone := map[string]bool{}
		for _, mode := range policy.Modes() {
			alone[mode] = allowed(s.command, record.Actor{Agent: "claude", Mode: mode})
		}
		for _, mode := range policy.Modes() {
			for _, parent := range policy.Modes() {
				switch child := allowed(s.command, record.Actor{Agent: "claude", Mode: mode, Parent: &record.Parent{Mode: parent}}); {
				case child && !(alone[mode] && alone[parent]):
					t.Errorf("%s: allowed to a sub-agent in %s under one in %s", s.command, mode, parent)
				case !child && alone[mode]:
					narrowed++
				}
			}
		}
	}
	if narrowed == 0 {
		t.Error("no parent narrowed anything")
	}
}

// TestDocumentedPolicies holds that the policies in docs/writing-policies.md load and keep what their examples promise.
func TestDocumentedPolicies(t *testing.T) {
	text, err := os.ReadFile("../../docs/writing-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/writing-policies.md has no policy file in it")
	}
	set, err := policy.Load(policy.Options{Sources: []policy.Source{{Name: "docs/writing-policies.md", Text: []byte(block)}}})
	if err != nil {
		t.Fatal(err)
	}
	report, err := set.Check(context.Background(), newCourt(t).Facts)
	if err != nil || len(report.Wrong) > 0 || report.Examples == 0 {
		t.Errorf("%+v %v", report, err)
	}
}

// TestLargeScripts holds that no shipped policy runs into its bounds on scripts near the size that facts describe.
func TestLargeScripts(t *testing.T) {
	shorttest.Long(t)
	c, set := newCourt(t), loaded(t, policy.Packs()...)
	for name, line := range map[string]string{
		"deletions": "rm -rf build/d%d; git status; bash x%d.sh", "downloads": "curl -o out/f%d http://localhost/%d", "copies": "cp a%d build/b%d; find . -name x -delete",
		"pushes": "git push origin t%d:t%d; git commit -m x", "writes": "echo %d > out/%d.txt; cat a | sh",
	} {
		var script strings.Builder
		for i := range 300 {
			fmt.Fprintf(&script, line+"\n", i, i)
		}
		for _, mode := range policy.Modes() {
			in := c.record(t, script.String(), mode)
			if len(in.Facts.Shell.Commands) < 300 {
				t.Fatalf("%s: %d commands, incomplete: %q", name, len(in.Facts.Shell.Commands), in.Facts.Incomplete)
			}
			for _, e := range set.Decide(context.Background(), in).Errors {
				if e.Code != policy.CodeIncomplete {
					t.Errorf("%s, %s: %s %s: %s", name, mode, e.ID, e.Code, e.Message)
				}
			}
		}
	}
}

// otherActions are what agents do beside running commands.
func otherActions() []record.Action {
	all := []record.Action{
		{Kind: record.KindMCP, Server: "db", Name: "query"},
		{Kind: record.KindFetch, URL: "https://example.com/"},
		{Kind: record.KindFetch, URL: "http://169.254.169.254/"},
		{Kind: record.KindEvent, Name: "Stop"},
	}
	for _, op := range []string{"read", "list", "write", "edit", "delete", "move"} {
		for _, path := range []string{"src/main.go", "build/x", "/tmp/x", ".git/config", "~/.ssh/id_rsa", "coding_ethos.yml", ".claude/settings.json", "~/.bashrc"} {
			all = append(all, record.Action{Kind: record.KindFile, File: &record.FileAction{Op: op, Path: path}})
		}
	}
	return all
}

// TestEverydayCommandsAreNotInteractive holds that only those everyday commands
// are refused to an agent that can type into them which wait for commands.
func TestEverydayCommandsAreNotInteractive(t *testing.T) {
	c, set := newCourt(t), loaded(t)
	wait := []string{"vim README.md", "docker run --rm -it -p 8080:80 nginx:alpine"}
	for _, s := range samples(t, "everyday.txt") {
		in := c.record(t, s.command, record.ModeSafe)
		in.Action.Interactive = true
		for _, m := range set.Decide(context.Background(), in).Matches {
			if m.ID == "code.interactive_shell" && !slices.Contains(wait, s.command) {
				t.Errorf("%s: %s", s.place, s.command)
			}
		}
	}
}
