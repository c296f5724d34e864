package compat

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRefusals: each way in which a test can differ, and those that are none.
func TestRefusals(t *testing.T) {
	outside := parse(t, "ok 1 - setup\nok 2 - edit\nok 3 - after\nnot ok 4 - broken\nok 5 - skipped # skip missing X\nok 6 - renamed\nnot ok 7 - known # TODO known breakage\n")
	under := parse(t, "a line\nok 1 - setup\nethos-git: error: It is refused. (git.inline_code)\nnot ok 2 - edit\nnothing\nnot ok 3 - after\nnot ok 4 - broken\nok 5 - skipped # skip missing X\nnot ok 6 - other\nnot ok 7 - known # TODO known breakage\n")
	var got []string
	for _, d := range Refusals(outside, under, []string{"git.inline_code"}) {
		got = append(got, d.Name+" "+string(d.Kind)+" "+d.Policy)
	}
	if d := cmp.Diff([]string{"2 edit refused git.inline_code", "3 after consequence git.inline_code"}, got); d != "" {
		t.Error(d)
	}
	bug := Refusals(parse(t, "ok 1 - x\n"), parse(t, "prose (not.a_refusal)\nnot ok 1 - x\n"), nil)
	if len(bug) != 1 || bug[0].Kind != Bug || !strings.Contains(bug[0].Output, "prose") {
		t.Errorf("%+v", bug)
	}
	elsewhere := Refusals(parse(t, "ok 1 - x\n"), parse(t, "cmp: differ\nnot ok 1 - x\n"), []string{"git.force_push_protected"})
	if len(elsewhere) != 1 || elsewhere[0].Kind != Consequence || elsewhere[0].Policy != "git.force_push_protected" {
		t.Errorf("a refusal that went into a file: %+v", elsewhere)
	}
}

// TestSkippedScript: a script that finds nothing to run has not lost its tests.
func TestSkippedScript(t *testing.T) {
	for _, text := range []string{"1..0 # SKIP no locale\n", "ok 1 # skip grep pcre (missing LIBPCRE2)\n"} {
		if list := parse(t, text); len(list) != 1 || list[0].Status != Skipped {
			t.Errorf("%q: %+v", text, list)
		}
	}
}

func TestStored(t *testing.T) {
	store := t.TempDir()
	for name, text := range map[string]string{
		"2026/01/02.ndjson": `{"decision":{"verdict":"deny","matches":[{"id":"git.a"},{"id":"git.b"}]}}` + "\n" + `{"kind":"start"}` + "\n" + `{"decision":{"verdict":"allow","matches":[{"id":"git.c"}]}}` + "\n",
		"2026/01/03.ndjson": `{"decision":{"verdict":"deny","matches":[{"id":"git.a"}]}}` + "\n" + `{"decision":{"verdict":"ask","matches":[{"id":"git.d"}]}}` + "\n",
		"HEAD":              "no record",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(store, name)), 0o700), os.WriteFile(filepath.Join(store, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Stored(store)
	if d := cmp.Diff([]string{"git.a", "git.a", "git.d"}, list); d != "" || err != nil {
		t.Error(d, err)
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
