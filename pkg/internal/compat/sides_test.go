package compat

import (
	"os"
	"slices"
	"testing"
)

// judge compares the units of a suite, and fails for each difference that
// docs/compatibility.md does not list.
func judge(t *testing.T, sides Sides, suite string, units []Unit) {
	t.Helper()
	page, err := os.ReadFile("../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := ParseReviewed(string(page))
	if err != nil {
		t.Fatal(err)
	}
	rows = slices.DeleteFunc(rows, func(r Reviewed) bool { return r.Suite != suite })
	met := make([]bool, len(rows))
	all, differ := 0, 0
	for _, u := range units {
		t.Run(u.Name, func(t *testing.T) {
			tests, list, err := sides.Compare(u)
			if err != nil {
				t.Fatal(err)
			}
			if all += tests; tests == 0 {
				t.Error("it has no tests")
			}
			for _, d := range list {
				differ++
				row := slices.IndexFunc(rows, func(r Reviewed) bool { return r.Covers(suite, d.Name) })
				if row < 0 {
					t.Errorf("%s\n%s", d, tail(d.Output, 40))
					continue
				}
				met[row] = true
				t.Logf("%s: %s", d, rows[row].Reason)
			}
		})
	}
	for i, row := range rows {
		if !met[i] {
			t.Logf("%s: nothing differs any more: %q", suite, row.Tests)
		}
	}
	t.Logf("%s: %d programs, %d tests, %d differ", suite, len(units), all, differ)
}
