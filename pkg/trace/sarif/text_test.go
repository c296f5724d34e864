package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// entriesTime is the time of the records, and that at which they are read.
var entriesTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// hostileText has what controls a terminal or a page, and what is invisible.
const hostileText = "a\x1b[2J\u202eb\u200bc\r\x7f\u0085\U000e0041"

// stringsIn lists every string in a log, names of members included.
func stringsIn(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			list = append(list, stringsIn(e)...)
		}
	case map[string]any:
		for name, e := range v {
			list = append(append(list, name), stringsIn(e)...)
		}
	}
	return list
}

// TestHostileText puts what a viewer would obey into every text that a tool, a command or a record has, and holds that none of it is in the log.
func TestHostileText(t *testing.T) {
	w := NewWriter("1", nil)
	f := trace.Finding{Tool: hostileText, Rule: hostileText, Message: hostileText, Path: hostileText, HelpURI: "https://example.com/" + hostileText, Level: trace.LevelError, Line: 99999999999, Column: 7, EndLine: 99999999999, EndColumn: 99999999999}
	plain := trace.Finding{Rule: "r", Message: "héllo 日本\n\tx \"q\" \\ <b>", Path: "a", Level: trace.LevelError, Line: 3, Column: 4, EndLine: 5, EndColumn: 6}
	for n, set := range []map[string]any{
		{"facts": record.Facts{Tool: record.Tool{ID: hostileText}, Shell: record.Shell{Commands: []record.Command{{Argv: []*string{}, Line: 99999999999, Column: 99999999999}}}}, "decision": record.Decision{Verdict: record.VerdictAllow},
			"result": record.Result{Status: record.StatusExited, Signal: hostileText, Capture: record.Capture{Sandbox: record.Sandbox{Profile: hostileText, Denials: []record.Denial{{Layer: "git", What: hostileText, Reason: hostileText, Path: "/w/" + hostileText, Remedy: hostileText}}}}}},
		{"decision": record.Decision{Verdict: record.VerdictDeny, Matches: []record.Match{{ID: hostileText, Pack: hostileText, Principle: hostileText, Effect: "deny", Message: hostileText, Remedy: hostileText, File: "/w/x.yml", Line: 99999999999}}}},
	} {
		l := record.NewLine(fmt.Sprint("id", n), entriesTime, record.Action{Kind: record.KindShell, Script: "echo " + hostileText, Cwd: "/w/" + hostileText, Workspace: "/w"}, record.Actor{Agent: hostileText, Mode: record.ModeSafe})
		for name, v := range set {
			if err := l.Set(name, v); err != nil {
				t.Fatal(err)
			}
		}
		e, err := trace.NewEntry(l, entriesTime)
		if err != nil {
			t.Fatal(err)
		}
		e.Findings = []trace.Finding{f, {Rule: hostileText + "2", Message: hostileText, Level: trace.LevelError}, plain}
		if _, err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.AddError("id", record.Error{Stage: "decide", Line: 1, Code: hostileText, Message: hostileText, InputPrefix: hostileText}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := w.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	var log any
	if err := json.Unmarshal(out.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	all := stringsIn(log)
	for _, s := range all {
		if s != printable.Text(s) {
			t.Errorf("%q", s)
		}
	}
	text := strings.Join(all, "\n")
	if !strings.Contains(text, `a\x1b[2J\u202eb\u200bc\x0d\x7f\u0085\U000e0041`) || !strings.Contains(text, plain.Message) {
		t.Errorf("texts are lost: %s", out.String())
	}
	if strings.Contains(out.String(), "99999999999") || !strings.Contains(out.String(), `"endColumn": 6`) {
		t.Error("positions")
	}
	valid(t, out.Bytes())
}

// TestBaselineOfHostileText holds that a result is unchanged where its text was escaped.
func TestBaselineOfHostileText(t *testing.T) {
	log := func(old io.Reader) string {
		var b *Baseline
		if old != nil {
			var err error
			if b, err = ReadBaseline(old); err != nil {
				t.Fatal(err)
			}
		}
		w := NewWriter("1", b)
		l := record.NewLine("id", entriesTime, record.Action{Kind: record.KindShell, Script: "x", Cwd: "/w", Workspace: "/w"}, record.Actor{Mode: record.ModeSafe})
		if err := l.Set("decision", record.Decision{Verdict: record.VerdictAllow}); err != nil {
			t.Fatal(err)
		}
		e, err := trace.NewEntry(l, entriesTime)
		if err != nil {
			t.Fatal(err)
		}
		e.Findings = []trace.Finding{{Rule: "r", Message: hostileText, Path: "a", Level: trace.LevelError}}
		if fresh, err := w.Add(e); err != nil || (fresh == 0) != (old != nil) {
			t.Errorf("%d fresh, %v", fresh, err)
		}
		var out bytes.Buffer
		if _, err := w.WriteTo(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if second := log(strings.NewReader(log(nil))); !strings.Contains(second, `"baselineState": "unchanged"`) {
		t.Error(second)
	}
}

// FuzzPrintable holds that the values of JSON change only as their texts do.
func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "a", hostileText, `\"`, "\\", "é\n\t", "\xff", `a\u001b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := json.Marshal(map[string]any{s: []string{s, "x" + s}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendPrintable(nil, text)
		var back map[string][]string
		if err != nil || json.Unmarshal(got, &back) != nil {
			t.Fatalf("%s: %v", got, err)
		}
		clean := strings.ToValidUTF8(s, "\uFFFD")
		if utf := []rune(s); string(utf) != s {
			clean = string(utf)
		}
		if list := back[printable.Text(clean)]; len(list) != 2 || list[0] != printable.Text(clean) || list[1] != printable.Text("x"+clean) {
			t.Errorf("%q: %s", s, got)
		}
	})
}
