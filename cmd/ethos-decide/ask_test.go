package main

import (
	"strings"
	"testing"

	"ethos/pkg/trust"
)

// TestScriptPage: what is looked at is shown, up to a bound that is told, and steers no terminal.
func TestScriptPage(t *testing.T) {
	shown := scriptPage(candidate{path: "/w/x.sh", text: []byte("date\n\x1b[2Jid\n"), widens: []string{"written by a run"}}, trust.Entry{})
	for _, want := range []string{"written by a run\n", "  | date\n", `\x1b[2Jid`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q lacks %q", shown, want)
		}
	}
	if strings.Contains(shown, "\x1b") || strings.Contains(shown, "more lines") {
		t.Errorf("%q", shown)
	}
	long := scriptPage(candidate{path: "/w/x.sh", text: []byte(strings.Repeat("date\n", maxShown+5))}, trust.Entry{Digest: "sha256:0"})
	if !strings.Contains(long, "and 5 more lines") || !strings.Contains(long, "It has changed since") {
		t.Errorf("%q", long)
	}
}
