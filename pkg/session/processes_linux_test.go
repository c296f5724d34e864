package session

import "testing"

func TestParseStatus(t *testing.T) {
	for text, want := range map[string]processStatus{
		"Name:\tx\nState:\tS (sleeping)\nPPid:\t12\nNSpid:\t400\t7\n":       {12, 7},
		"Name:\tNSpid: 9\nState:\tR (running)\nPPid:\t1\nNSpid:\t4\t5\t6\n": {1, 6},
		"Name:\tx\nState:\tS (sleeping)\nPPid:\t12\nNSpid:\t400\n":          {12, 0},
	} {
		if got, ok := parseStatus(text); !ok || got != want {
			t.Errorf("%q: %+v %t", text, got, ok)
		}
	}
	if _, ok := parseStatus("State:\tZ (zombie)\nPPid:\t1\nNSpid:\t4\t5\n"); ok {
		t.Error("a zombie is alive")
	}
}

// TestDescends ends for parents in a circle too.
func TestDescends(t *testing.T) {
	parents := map[int]int{5: 4, 4: 3, 3: 1, 8: 9, 9: 8}
	for pid, want := range map[int]bool{5: true, 4: true, 3: false, 8: false, 77: false} {
		if got := descends(parents, pid, 3); got != want {
			t.Errorf("%d: %t", pid, got)
		}
	}
}
