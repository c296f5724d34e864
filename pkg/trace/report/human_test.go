package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

func TestHumanPlain(t *testing.T) {
	var out bytes.Buffer
	through(t, NewHuman(&out, Terminal{}, testNow), sample(t))
	golden(t, "plain.txt", out.String())
	if strings.ContainsAny(out.String(), "\x1b\r\a\b") {
		t.Error("plain output holds control characters")
	}
}

func TestHumanNarrow(t *testing.T) {
	for _, cells := range []int{40, 80, 200} {
		var out bytes.Buffer
		through(t, NewHuman(&out, Terminal{Width: func() int { return cells }}, testNow), sample(t))
		if cells == 80 {
			golden(t, "80.txt", out.String())
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if oneWord := !strings.Contains(strings.TrimSpace(line), " "); width(line) > cells && !oneWord {
				t.Errorf("%d cells in %d: %q", width(line), cells, line)
			}
		}
	}
}

// TestFolded holds that a failure and a refusal are told once, that the same
// again is one line with its number, and that what only looks alike is told.
func TestFolded(t *testing.T) {
	failed := func(n int, last string, denials ...record.Denial) *trace.Entry {
		set := ran("", 2, 10, "first\n", last)
		r := set["result"].(record.Result)
		r.Capture.Sandbox.Denials = denials
		set["result"] = r
		return entry(t, n, argv("make", "all"), set)
	}
	net := record.Denial{Layer: "network", What: "a.example:443"}
	for name, c := range map[string]struct {
		entries []*trace.Entry
		want    string // of the last row
	}{
		"the same":            {[]*trace.Entry{failed(1, "gone\n"), failed(2, "gone\n")}, "as above ×2"},
		"another time":        {[]*trace.Entry{failed(1, "FAIL p 0.012s\n"), failed(2, "FAIL p 1.3s\n")}, "as above ×2"},
		"another last line":   {[]*trace.Entry{failed(1, "gone\n"), failed(2, "there\n")}, "(exit 2)  │ there"},
		"another denial":      {[]*trace.Entry{failed(1, "gone\n"), failed(2, "gone\n", net)}, "(exit 2, 1 denial)"},
		"refused alike":       {[]*trace.Entry{entry(t, 1, argv("x"), denied("deny", "p", "m", "")), entry(t, 2, argv("x"), denied("deny", "p", "m", ""))}, "as above ×2"},
		"refused by another":  {[]*trace.Entry{entry(t, 1, argv("x"), denied("deny", "p", "m", "")), entry(t, 2, argv("x"), denied("deny", "q", "m", ""))}, "q: m"},
		"another command":     {[]*trace.Entry{entry(t, 1, argv("x"), denied("deny", "p", "m", "")), entry(t, 2, argv("y"), denied("deny", "p", "m", ""))}, "p: m"},
		"a long command":      {[]*trace.Entry{entry(t, 1, argv(strings.Repeat("x", 5000)+"1"), denied("deny", "p", "m", "")), entry(t, 2, argv(strings.Repeat("x", 5000)+"2"), denied("deny", "p", "m", ""))}, "p: m"},
		"what passed is told": {[]*trace.Entry{entry(t, 1, argv("x"), ran("", 0, 1, "", "")), entry(t, 2, argv("x"), ran("", 0, 1, "", ""))}, "passed       1 ms x"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			h := NewHuman(&out, Terminal{}, testNow)
			for _, e := range c.entries {
				out.Reset()
				if err := errors.Join(h.Action(e), h.Flush()); err != nil {
					t.Fatal(err)
				}
			}
			if got := out.String(); !strings.Contains(got, c.want) || strings.Contains(c.want, "as above") != (strings.Count(got, "\n") == 1) && name != "what passed is told" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestHumanHidesNothing holds that what a command does in its second line is seen, and that what would steer the terminal is not sent.
func TestHumanHidesNothing(t *testing.T) {
	var out bytes.Buffer
	h := NewHuman(&out, Terminal{}, testNow)
	e := entry(t, 1, script("echo ok\nrm -rf ~ #\u202e\x1b]0;x\x07\u200f"), denied(record.VerdictDeny, "p\x1b[2J", "m\rn", "r\b"))
	if err := errors.Join(h.Action(e), h.Flush()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "echo ok ⏎ rm -rf ~") || strings.ContainsAny(got, "\x1b\x07\r\b\u202e\u200f") {
		t.Errorf("%q", got)
	}
}

func TestSummaryIsBounded(t *testing.T) {
	s := newSummary()
	for i := range 3000 {
		id := strings.Repeat("x", i%1500)
		s.add(entry(t, i, argv("c"+id), denied(record.VerdictDeny, "p"+id, "m", "")))
	}
	if len(s.tools) > maxTools+1 || len(s.reasons) > maxReasons {
		t.Errorf("%d tools, %d reasons", len(s.tools), len(s.reasons))
	}
	if s.actions != 3000 || s.outcomes[trace.Denied] != 3000 {
		t.Errorf("counted %d", s.actions)
	}
}

// TestDeniedRowsAreBounded holds that hostile names of denials take bounded memory, and that what is left out is counted.
func TestDeniedRowsAreBounded(t *testing.T) {
	s := newSummary()
	for i := range 3000 {
		s.add(entry(t, i, argv("c"), left(0, record.Denial{Layer: "git", What: strings.Repeat("x", i%1500)})))
	}
	if len(s.denied.rows) != maxDenied || s.denials != 3000 {
		t.Errorf("%d rows of %d denials", len(s.denied.rows), s.denials)
	}
	var seen int
	for _, row := range s.denied.rows {
		seen += row.times
		if len(row.What) > maxDeniedText+len("…") {
			t.Errorf("a text of %d bytes", len(row.What))
		}
	}
	if seen+s.denied.more != 3000 {
		t.Errorf("%d of 3000 are counted", seen+s.denied.more)
	}
}

// TestDeniedRowsAreJoined holds that the same thing left twice is one row, though each is kept elsewhere, and the last way back is told.
func TestDeniedRowsAreJoined(t *testing.T) {
	s := newSummary()
	for _, run := range []string{"1", "2"} {
		s.add(entry(t, 1, argv("c"), left(0, record.Denial{Layer: "git", What: "x", Kept: "/kept/" + run, Remedy: "mv /kept/" + run + " x"})))
	}
	if l := s.denied.rows; len(l) != 1 || l[0].times != 2 || l[0].Kept != "/kept/2" || l[0].Remedy != "mv /kept/2 x" {
		t.Errorf("%+v", l)
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "世界": 4, "e\u0301": 1, "한": 2, "🙂": 2, "…": 1, "a\u200bb": 2, "ﾊ": 1} {
		if got := width(text); got != want {
			t.Errorf("width(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text  string
		cells int
		want  string
	}{{"abcdef", 6, "abcdef"}, {"abcdef", 5, "abcd…"}, {"世界世界", 5, "世界…"}, {"世界世界", 4, "世…"}, {"abc", 0, ""}, {"abc", 1, "…"}} {
		got := fit(c.text, c.cells)
		if got != c.want || width(got) > c.cells {
			t.Errorf("fit(%q, %d) = %q, want %q", c.text, c.cells, got, c.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 世": "plain ä 世", "a\nb": "a⏎b", "\x1b[2J": `\x1b[2J`, "\x00\x07\x7f": `\x00\x07\x7f`, "\u009b2J": `\u009b2J`, "a\u202eb": `a\u202eb`, "\u2066x\u2069": `\u2066x\u2069`, "t\tt": "t t",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	got := wrap("one two three fourteen", 9)
	if strings.Join(got, "|") != "one two|three|fourteen" {
		t.Errorf("%q", got)
	}
}
