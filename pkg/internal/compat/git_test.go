package compat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRefusals: each way in which a test can differ, and those that are none.
func TestRefusals(t *testing.T) {
	outside := parse(t, "ok 1 - setup\nok 2 - edit\nok 3 - after\nnot ok 4 - broken\nok 5 - skipped # skip missing X\nok 6 - renamed\nnot ok 7 - known # TODO known breakage\n")
	under := parse(t, "a line\nok 1 - setup\nethos-git: error: It is refused. (git.inline_code)\nnot ok 2 - edit\nnothing\nnot ok 3 - after\nnot ok 4 - broken\nok 5 - skipped # skip missing X\nnot ok 6 - other\nnot ok 7 - known # TODO known breakage\n")
	var got []string
	for _, d := range Refusals(outside, under) {
		got = append(got, d.Name+" "+string(d.Kind)+" "+d.Policy)
	}
	if d := cmp.Diff([]string{"2 edit refused git.inline_code", "3 after consequence git.inline_code"}, got); d != "" {
		t.Error(d)
	}
	bug := Refusals(parse(t, "ok 1 - x\n"), parse(t, "prose (not.a_refusal)\nnot ok 1 - x\n"))
	if len(bug) != 1 || bug[0].Kind != Bug || !strings.Contains(bug[0].Output, "prose") {
		t.Errorf("%+v", bug)
	}
}

func parse(t *testing.T, text string) []Case {
	t.Helper()
	cases, err := ParseGit([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return cases
}
