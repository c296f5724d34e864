package probetest

import "testing"

func TestRequired(t *testing.T) {
	for _, c := range []struct {
		list, need string
		want       bool
	}{
		{"", Root, false},
		{"all", Root, true},
		{"user, root", Root, true},
		{"command", "command:bash", true},
		{"command:git", "command:bash", false},
	} {
		if got := Required(c.list, c.need); got != c.want {
			t.Errorf("Required(%q, %q) = %v", c.list, c.need, got)
		}
	}
}
