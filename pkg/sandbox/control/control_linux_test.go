package control

import (
	"slices"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/plan"
)

// TestControlsAreListed: what has a line in the evidence is what a person can
// require by name, in the same order, and no two controls have one name.
func TestControlsAreListed(t *testing.T) {
	var lines []string
	for _, c := range New(&Job{Plan: &plan.Plan{}}) {
		if line, ok := Line(c, false); ok {
			lines = append(lines, line.Name)
		}
	}
	if want := record.Controls(); !slices.Equal(lines, want) {
		t.Errorf("the evidence has %q, the list of names is %q", lines, want)
	}
	slices.Sort(lines)
	if len(slices.Compact(slices.Clone(lines))) != len(lines) {
		t.Errorf("two controls have one name: %q", lines)
	}
}
