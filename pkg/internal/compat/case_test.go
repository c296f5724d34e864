package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/internal/probetest"
)

// TestDifferences: a difference in either direction, what one side has alone, and
// that a name which failed once has failed.
func TestDifferences(t *testing.T) {
	outside := []Case{{"a", Passed, ""}, {"b", Failed, "out"}, {"c", Passed, ""}, {"d", Skipped, ""}, {"e", Passed, ""}, {"f", Failed, ""}, {"g", Passed, ""}, {"g", Passed, ""}}
	inside := []Case{{"a", Passed, ""}, {"b", Passed, "in"}, {"c", Skipped, ""}, {"d", Skipped, ""}, {"f", Failed, ""}, {"g", Failed, "once"}, {"g", Passed, ""}, {"h", Passed, ""}}
	want := []Difference{{"b", Failed, Passed, "out"}, {"c", Passed, Skipped, ""}, {"e", Passed, Missing, ""}, {"g", Passed, Failed, "once"}, {"h", Missing, Passed, ""}}
	got := Differences(outside, inside)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want[1:2], Common(got, []Difference{{"b", Passed, Failed, ""}, {"c", Passed, Skipped, ""}})); d != "" {
		t.Error(d)
	}
}

// TestParse: each report, with each way in which a test ends.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, report string
		parse        func([]byte) ([]Case, error)
		want         string
	}{
		{"go", "=== RUN   A\n--- PASS: A (0.01s)\n    --- SKIP: A/b (0.00s)\n        x_test.go:1: no\n--- FAIL: B (1.00s)\nFAIL\n", ParseGo, "A passed, A/b skipped, B failed, (all) failed"},
		{"go killed", "=== RUN   A\n--- PASS: A (0.01s)\n=== RUN   B\nfatal error: out of memory\n", ParseGo, "A passed, (all) failed"},
		{"junit", `<?xml version="1.0"?><testsuites><testsuite><testcase name="a"/><testcase classname="C" name="b"><failure message="m">x</failure></testcase><testcase name="c"><skipped/></testcase></testsuite></testsuites><testsuite><testcase name="d"><error/></testcase></testsuite>`, ParseJUnit, "a passed, C b failed, c skipped, d failed"},
		{"jest", `{"testResults":[{"assertionResults":[{"fullName":"a","status":"passed"},{"fullName":"b","status":"failed","failureMessages":["x"]},{"fullName":"c","status":"pending"}]}]}`, ParseJest, "a passed, b failed, c skipped"},
		{"automake", "make[1]\nPASS: a.sh\nSKIP: b\nFAIL: c\nXFAIL: d\n# PASS:  1\n", ParseAutomake, "a.sh passed, b skipped, c failed, d passed"},
	} {
		cases, err := c.parse([]byte(c.report))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := summary(cases); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func summary(cases []Case) (s string) {
	for i, c := range cases {
		if i > 0 {
			s += ", "
		}
		s += c.Name + " " + string(c.Status)
	}
	return s
}

// TestReviewed: the page's rows, a pattern that spans slashes, and rows that say
// too little.
func TestReviewed(t *testing.T) {
	rows, err := ParseReviewed("# x\n\n| other | y | z |\n|---|---|---|\n| a | `b` | c |\n\n| suite | tests | why |\n|---|---|---|\n| std | `os TestA*`, `net TestB` | because |\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Reviewed{{"std", []string{"os TestA*", "net TestB"}, "because"}}, rows); d != "" {
		t.Error(d)
	}
	for test, want := range map[string]bool{"os TestA/b/c": true, "net TestB": true, "net TestBc": false} {
		if rows[0].Covers("std", test) != want {
			t.Errorf("%s: %v", test, !want)
		}
	}
	if rows[0].Covers("cpython", "net TestB") {
		t.Error("of another suite")
	}
	for _, row := range []string{"| std | `a` | |", "| std | a | why |", "| std | why |"} {
		if _, err := ParseReviewed("| suite | tests | why |\n|---|---|---|\n" + row + "\n"); err == nil {
			t.Errorf("accepted: %s", row)
		}
	}
}

// TestSides: a test that the boundary lets pass is no difference, and one that it
// refuses is.
func TestSides(t *testing.T) {
	probetest.Whole(t)
	probetest.Need(t, probetest.UserNS)
	sides := newSides(t)
	beside := filepath.Join(t.TempDir(), "beside")
	if err := os.WriteFile(beside, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	u := Unit{Name: "u", Dir: dir, Parse: ParseAutomake, Env: []string{"BESIDE=" + beside}, Argv: []string{"sh", "-c", `
		echo PASS: always; touch here && echo PASS: writes; if test -e "$BESIDE"; then echo PASS: reads; else echo FAIL: reads; fi`}}
	tests, list, err := sides.Compare(u)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].String() != "u reads: passed outside, failed inside" || tests != 3 {
		t.Errorf("%d %v", tests, list)
	}
	u.Argv = []string{"/nonexistent/program"}
	if _, _, err := sides.Compare(u); err == nil {
		t.Error("a program that does not exist has been compared")
	}
}

// newSides builds ethos-sandbox.
func newSides(t *testing.T) Sides {
	t.Helper()
	probetest.Need(t, "command:go", probetest.UserNS)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "ethos/cmd/ethos-sandbox")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return Sides{Sandbox: filepath.Join(bin, "ethos-sandbox"), Home: t.TempDir(), Path: os.Getenv("PATH")}
}
