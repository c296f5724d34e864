package tooloutput

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

func entry(format, stdout, stderr string, status string, code int) *trace.Entry {
	return &trace.Entry{
		Action: record.Action{Kind: record.KindExec, Argv: []string{"/usr/bin/tool", "x"}, Cwd: "/w/sub", Workspace: "/w"},
		Facts:  record.Facts{Tool: record.Tool{Format: format}}, Decision: &record.Decision{Verdict: record.VerdictAllow},
		Result: &record.Result{Status: status, ExitCode: code, Capture: record.Capture{Stdout: record.Stream{Text: stdout}, Stderr: record.Stream{Text: stderr}}},
	}
}

func TestFill(t *testing.T) {
	const vet = "# p\na.go:3:4: bad\n"
	cases := []struct {
		name    string
		entry   *trace.Entry
		want    []string // place: rule: message
		outcome trace.Outcome
	}{
		{"clean", entry("go-vet", "", "", record.StatusExited, 0), nil, trace.Passed},
		{"found", entry("go-vet", "", vet, record.StatusExited, 1), []string{"sub/a.go: vet: bad"}, trace.Found},
		{"no format", entry("", "", "boom\n", record.StatusExited, 3), []string{": ethos.tool_failed: tool exited with status 3: boom"}, trace.Failed},
		{"unknown format", entry("nope", "out\n", "", record.StatusExited, 3), []string{": ethos.tool_failed: tool exited with status 3: out"}, trace.Failed},
		{"other output", entry("go-vet", "", "go: no module\n", record.StatusExited, 1), []string{": ethos.tool_failed: tool exited with status 1: go: no module"}, trace.Failed},
		{"silent failure", entry("go-vet", "", "", record.StatusExited, 1), []string{": ethos.tool_failed: tool exited with status 1"}, trace.Failed},
		{"killed", entry("go-vet", "", vet, record.StatusTimeout, 0), []string{"sub/a.go: vet: bad"}, trace.Failed},
		{"killed without findings", entry("go-vet", "", "", record.StatusOOM, 0), []string{": ethos.tool_failed: tool was ended at its memory limit"}, trace.Failed},
		{"warnings only, but failed", entry("yamllint", "a.yaml:1:1: [warning] m (r)\n", "", record.StatusExited, 2), []string{"sub/a.yaml: r: m"}, trace.Found},
		{"findings with status 0", entry("yamllint", "a.yaml:1:1: [warning] m (r)\n", "", record.StatusExited, 0), []string{"sub/a.yaml: r: m"}, trace.Found},
		{"errorformat", entry("errorformat:%f:%l: %m", "../b.c:7: oops\nnoise\n", "", record.StatusExited, 1), []string{"b.c: : oops"}, trace.Found},
		{"two patterns", entry("errorformat:%f(%l): %m\n%f|%l|%m", "x(1): a\ny|2|b\n", "", record.StatusExited, 1), []string{"sub/x: : a", "sub/y: : b"}, trace.Found},
		{"bad errorformat", entry("errorformat:%y", "x\n", "", record.StatusExited, 1), []string{": ethos.tool_failed: tool exited with status 1: x"}, trace.Failed},
		{"outside", entry("errorformat:%f:%l: %m", "/etc/x:7: oops\n../../y:1: m\n", "", record.StatusExited, 1), []string{"/etc/x: : oops", "/y: : m"}, trace.Found},
		{"denied", entry("go-vet", "", vet, record.StatusDenied, 0), nil, trace.Denied},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			Fill(c.entry)
			var got []string
			for _, f := range c.entry.Findings {
				got = append(got, f.Path+": "+f.Rule+": "+f.Message)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("findings = %q, want %q", got, c.want)
			}
			if o := c.entry.Outcome(); o != c.outcome {
				t.Errorf("outcome = %s, want %s", o, c.outcome)
			}
		})
	}
}

// TestTruncated holds that output which was cut off does not count as understood.
func TestTruncated(t *testing.T) {
	e := entry("go-vet", "", "a.go:3:4: bad\n", record.StatusExited, 1)
	e.Result.Capture.Stderr.Truncated = true
	Fill(e)
	if e.Parsed || e.Outcome() != trace.Failed {
		t.Errorf("parsed = %v, outcome = %s", e.Parsed, e.Outcome())
	}
}

func TestLongLines(t *testing.T) {
	text := strings.Repeat("x", 200<<10) + "\r\na.c:1:2: error: m [r]\r\n"
	found, ok := Parse("gcc", Output{Stdout: []byte(text), Workspace: "/w", Cwd: "/w"})
	if !ok || len(found) != 1 || found[0].Path != "a.c" || found[0].Rule != "r" || found[0].Level != trace.LevelError {
		t.Errorf("found = %+v, %v", found, ok)
	}
}

// FuzzParse holds that no output makes a parser panic, and that findings are fit for use.
func FuzzParse(f *testing.F) {
	for _, folder := range samples(f) {
		text, err := os.ReadFile(filepath.Join(folder, "stdout"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(formatOf(folder), string(text))
	}
	f.Add("errorformat:%E%f:%l: %m\n%C%.%#\n%Z%p^", "a:1: b\nc\n  ^\n")
	f.Fuzz(func(t *testing.T, format, text string) {
		if strings.HasPrefix(format, "errorformat:") && len(format) > 200 {
			return
		}
		for _, out := range []Output{{Stdout: []byte(text), Workspace: "/w", Cwd: "/w"}, {Stderr: []byte(text), Workspace: "/w", Cwd: "/w"}} {
			found, _ := Parse(format, out)
			for _, g := range found {
				if g.Message == "" || g.Level == "" || g.Line < 0 || g.Column < 0 || g.EndLine != 0 && g.EndLine < g.Line {
					t.Fatalf("unfit finding %+v", g)
				}
			}
		}
	})
}
