package report

import (
	"strings"
	"testing"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// TestTableNarrow: a list names the command and the policy however narrow the
// terminal is; a line is truncated only where there is more than that.
func TestTableNarrow(t *testing.T) {
	a := record.Action{Kind: record.KindShell, Script: "rm -rf ~ " + strings.Repeat("x", 100), Cwd: "/w", Workspace: "/w"}
	l := record.NewLine("0197f6a0-0000-7000-8000-000000000001", time.Unix(0, 0), a, record.Actor{Mode: record.ModeSafe})
	d := record.Decision{Verdict: record.VerdictDeny, Matches: []record.Match{{ID: "files.delete_wide", Effect: record.VerdictDeny}}}
	if err := l.Set("decision", d); err != nil {
		t.Fatal(err)
	}
	e, err := trace.NewEntry(l, testNow())
	if err != nil {
		t.Fatal(err)
	}
	for cells, truncated := range map[int]bool{0: false, 20: true, 40: true, 80: true, 120: true, 400: false} {
		table := NewTable(Terminal{Width: func() int { return cells }})
		line := table.Entry(e)
		if !strings.Contains(line, "rm -rf ~ x") || !strings.HasSuffix(line, "(files.delete_wide)\n") || strings.Contains(line, "…") != truncated {
			t.Errorf("%d cells: %q", cells, line)
		}
		if got := width(strings.TrimSuffix(line, "\n")); cells == 120 && got != cells {
			t.Errorf("%d cells: the line has %d", cells, got)
		}
	}
}
