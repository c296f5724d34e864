package trace

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ethos/pkg/record"
	"ethos/pkg/shorttest"
)

// statLine makes a record with a result.
func statLine(t testing.TB, n int, set map[string]any, argv ...string) []byte {
	t.Helper()
	a := record.Action{Kind: record.KindExec, Argv: argv, Cwd: "/w", Workspace: "/w"}
	l := record.NewLine(fmt.Sprint("id-", n), time.Date(2026, 1, 1, 0, 0, n%60, 0, time.UTC), a, record.Actor{Mode: record.ModeSafe})
	for name, v := range set {
		if err := l.Set(name, v); err != nil {
			t.Fatal(err)
		}
	}
	text := l.AppendTo(nil)
	return text[:len(text)-1]
}

// statNow is the time at which the records are read.
var statNow = time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)

func statLines(t testing.TB) (lines [][]byte) {
	deny := record.Decision{Verdict: record.VerdictDeny, Matches: []record.Match{{ID: "p", Effect: record.VerdictDeny}}}
	allow := record.Decision{Verdict: record.VerdictAllow, DurationMS: 0.25}
	for i := range 200 {
		set := map[string]any{"decision": allow, "facts": record.Facts{
			Tool:  record.Tool{ID: []string{"", "go-vet"}[i%2]},
			Shell: record.Shell{Commands: []record.Command{{Argv: []*string{nil}, Name: "na\"me\\"}, {Name: "second"}}},
		}}
		switch i % 5 {
		case 0:
			set["decision"] = deny
		case 1:
			set["result"] = record.Result{Status: record.StatusExited, ExitCode: i % 2, Started: "2026-01-01T00:01:00Z", DurationMS: float64(i), Capture: record.Capture{Stdout: record.Stream{Text: `{"status":"x"}\"}]`}}}
		case 2:
			set["result"] = record.Result{Status: record.StatusDenied, Reason: "decision.deny", Message: "m"}
		case 4:
			set["result"] = deniedRun(i)
		case 3:
			delete(set, "decision")
			if i%2 == 0 {
				set["decision"], set["confine"] = allow, confinement{i%4 == 0, i%4 == 0}
			}
		}
		lines = append(lines, statLine(t, i, set, "/bin/tool", fmt.Sprint(i%3)))
	}
	lines = append(lines, []byte(`{"schema":"ethos/v1","id":"a","output":{"stream":"stdout","text":"x"}}`),
		[]byte(`{"schema":"ethos/v1","id":"a","error":{"stage":"decide","line":1,"code":"c","message":"m","input_sha256":"","input_prefix":""}}`))
	return lines
}

// deniedRun is a run whose output tries to pass for denials, and which has some or none.
func deniedRun(i int) record.Result {
	r := record.Result{Status: record.StatusExited, Started: "2026-01-01T00:01:00Z", Capture: record.Capture{
		Stdout:  record.Stream{Text: `","sandbox":{"denials":[{"layer":"forged"}]}`},
		Sandbox: record.Sandbox{Profile: "build", Denials: []record.Denial{}},
	}}
	for range i % 3 {
		r.Capture.Sandbox.Denials = append(r.Capture.Sandbox.Denials, record.Denial{Layer: "git", What: `"denials":[]`, Path: "/w/x"})
	}
	return r
}

// TestDecideTimes holds that only decisions which say how long they took are timed.
func TestDecideTimes(t *testing.T) {
	s := NewStats(statNow, nil)
	for _, text := range statLines(t) {
		s.Add(text)
	}
	if d := s.Finish().Decide; d.Count != 140 || d.P50 != 0.25 || d.Max != 0.25 {
		t.Errorf("decide times %+v", d)
	}
}

// TestSkimAgrees holds the quick reader to the strict one.
func TestSkimAgrees(t *testing.T) {
	quick, strict := NewStats(statNow, nil), NewStats(statNow, nil)
	for _, text := range statLines(t) {
		quick.Add(text)
		strict.Lines++
		l, err := record.ParseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		switch l.Kind() {
		case record.LineError:
			strict.Errors++
		case record.LineAction:
			e, err := NewEntry(l, statNow)
			if err != nil {
				t.Fatal(err)
			}
			strict.Entry(e)
		}
	}
	if d := cmp.Diff(strict.Finish(), quick.Finish(), cmp.AllowUnexported(Stats{}, ToolStats{}, sketch{})); d != "" {
		t.Error(d)
	}
}

// TestCounterAgrees holds counting on all processors to counting on one.
func TestCounterAgrees(t *testing.T) {
	shorttest.Long(t)
	one, all := NewStats(statNow, nil), NewCounter(statNow, nil)
	for range 40 {
		for _, text := range statLines(t) {
			one.Add(text)
			all.Add(text)
		}
	}
	if d := cmp.Diff(one.Finish(), all.Close(), cmp.AllowUnexported(Stats{}, ToolStats{}, sketch{})); d != "" {
		t.Error(d)
	}
}

func TestStatsOfGarbage(t *testing.T) {
	s := NewStats(statNow, nil)
	for _, text := range []string{"", "{", "null", "[]", `{"a"`, `{"action":1}`, `{"action":{"kind":"exec"}}`, `{"action":{"kind":"file"}}`, `{"time":"`, `{"decision":[],"action":{"kind":"event"}}`} {
		s.Add([]byte(text))
	}
	if s.Actions != 0 || s.Errors != s.Lines {
		t.Errorf("%d actions, %d errors in %d lines", s.Actions, s.Errors, s.Lines)
	}
}

func TestStatsAreBounded(t *testing.T) {
	s := NewStats(statNow, nil)
	deny := record.Decision{Verdict: record.VerdictDeny, Matches: []record.Match{{ID: "p", Effect: record.VerdictDeny}}}
	for i := range maxStatNames + 500 {
		s.Add(statLine(t, i, map[string]any{"decision": deny}, fmt.Sprint("tool-", i)))
	}
	s.Finish()
	if len(s.Tools) > maxStatNames+1 || len(s.Denials) > maxStatNames+1 {
		t.Errorf("%d tools, %d denials", len(s.Tools), len(s.Denials))
	}
	if d := s.Denials[0]; d.Command != others || d.Count != 500 {
		t.Errorf("most refused: %+v", d)
	}
}

func TestSketch(t *testing.T) {
	for name, value := range map[string]func() float64{
		"uniform":     func() float64 { return rand.Float64() * 1000 },
		"exponential": func() float64 { return rand.ExpFloat64() * 50 },
		"constant":    func() float64 { return 7 },
		"tiny":        func() float64 { return rand.Float64() * 1e-5 },
	} {
		t.Run(name, func(t *testing.T) {
			var s sketch
			var values []float64
			for range 20_000 {
				v := value()
				values = append(values, v)
				s.add(v)
			}
			slices.Sort(values)
			for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
				want := values[max(int(math.Ceil(q*float64(len(values)))), 1)-1]
				if got := s.quantile(q); math.Abs(got-want) > want*0.011+sketchLowest {
					t.Errorf("quantile %v = %v, want %v", q, got, want)
				}
			}
		})
	}
	var s sketch
	s.add(math.NaN())
	s.add(-1)
	s.add(1e300)
	if s.n != 1 || s.quantile(0.5) != 1e300 {
		t.Errorf("n = %d, median %v", s.n, s.quantile(0.5))
	}
}

func FuzzSkim(f *testing.F) {
	for _, text := range statLines(f)[:10] {
		f.Add(string(text))
	}
	f.Add(`{"a":"\\\"","action":{"kind":"exec","argv":["a"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		NewStats(statNow, nil).Add([]byte(text))
		l, err := record.ParseLine([]byte(text))
		if err != nil || l.Kind() != record.LineAction {
			return
		}
		e, isAction := Skim([]byte(text), statNow)
		if !isAction || e == nil {
			t.Fatalf("not seen as an action: %s", text)
		}
		strict, err := NewEntry(l, statNow)
		if err == nil && (strict.Outcome() != e.Outcome() || strict.Command() != e.Command() || strict.Tool() != e.Tool()) {
			t.Errorf("%s, %s; %q, %q", strict.Outcome(), e.Outcome(), strict.Command(), e.Command())
		}
	})
}

func BenchmarkStats(b *testing.B) {
	lines := statLines(b)
	size := len(bytes.Join(lines, nil))
	b.SetBytes(int64(size))
	for b.Loop() {
		s := NewStats(statNow, nil)
		for _, text := range lines {
			s.Add(text)
		}
		s.Finish()
	}
}
