package gitguard

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// TestPassedIsARecord holds the text of a passed call's line to what the types encode to.
func TestPassedIsARecord(t *testing.T) {
	for _, words := range [][]string{
		{"git"}, {"git", "status"}, {"git", "log", "-3", "--format=%h", "--", "a b\n\"<é>\u2028\x7f\xff\\"}, {"git", "--no-pager", "log"}, {"git", "-C", "x", "-P", "diff", "--stat"},
		{"git", "st", "-s"}, {"git", "show-ref", "--nonsense", "--heads"}, {"git", "ls-remote", "origin"}, {"git", "config", "--get", "user.name"}, {"git", "diff", "HEAD~1", "--", "p/q"},
	} {
		l := &looked{
			reading: gitargs.Read(gitargs.Words(words...), gitargs.Context{Repo: record.Repo{Aliases: map[string]string{"st": "status"}}}),
			action:  record.Action{Kind: record.KindExec, Argv: words, Cwd: "/", Workspace: "/a b"},
			actor:   record.Actor{Tool: "git", Mode: record.ModeSafe},
		}
		isARecord(t, l)
	}
}

func isARecord(t *testing.T, l *looked) {
	t.Helper()
	now := time.Unix(1, 0)
	got, err := passed(l, now)
	if err != nil {
		t.Fatal(err)
	}
	want := record.NewLine(got.ID(), now, l.action, l.actor)
	if err := want.Set("facts", record.Facts{Git: []record.Git{l.reading.Git}}); err != nil {
		t.Fatal(err)
	}
	if err := want.Set("decision", record.Decision{Verdict: record.VerdictAllow}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want.AppendTo(nil)), string(got.AppendTo(nil))); d != "" {
		t.Error(d)
	}
	text := got.AppendTo(nil)
	if _, err := record.ParseLine(text[:len(text)-1]); err != nil {
		t.Error(err)
	}
}

func TestHarmless(t *testing.T) {
	for word, want := range map[string]bool{
		"status": true, "--short": true, "--porcelain": true, "HEAD~1": true, "main": true, "": true, "a.go": true,
		"--grep=x": false, "token=x": false, "https://u:p@h": false, "ghp_0123456789abcdef": false, "-pHunter2": false, "AKIA0123456789ABCDEF": false,
	} {
		if got := plainWord(word); got != want {
			t.Errorf("plainWord(%q) = %v", word, got)
		}
	}
}
