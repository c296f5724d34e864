package record

import "testing"

// TestBounded holds for every pair of modes that a child is no looser than it says itself, nor than its parent.
func TestBounded(t *testing.T) {
	looseness := map[string]int{}
	for i, mode := range Modes() {
		looseness[mode] = i
	}
	for _, child := range Modes() {
		if have := (Actor{Mode: child}).Bounded().Mode; have != child {
			t.Errorf("%s without a parent: %s", child, have)
		}
		for _, parent := range Modes() {
			have := (Actor{Mode: child, Parent: &Parent{Mode: parent}}).Bounded().Mode
			if want := min(looseness[child], looseness[parent]); looseness[have] != want {
				t.Errorf("%s under %s: %s", child, parent, have)
			}
		}
		for _, wrong := range []string{"", "AUTO", "root"} {
			if have := (Actor{Mode: child, Parent: &Parent{Mode: wrong}}).Bounded().Mode; have != ModePlan {
				t.Errorf("%s under %q: %s", child, wrong, have)
			}
		}
	}
}
