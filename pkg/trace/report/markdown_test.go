package report

import (
	"bytes"
	"strings"
	"testing"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	through(t, NewMarkdown(&out), sample(t))
	golden(t, "report.md", out.String())
}

// TestMarkdownHostile holds that commands and output cannot become markup, mentions or links, nor end their block.
func TestMarkdownHostile(t *testing.T) {
	var out bytes.Buffer
	m := NewMarkdown(&out)
	e := entry(t, 1, script("a | `b` ``` </summary> @someone"), ran("t`|", 1, 1, "```\n</details><img src=x onerror=alert(1)>\n````\n", ""),
		trace.Finding{Rule: "r|`", Level: trace.LevelError, Message: "[x](https://evil.example) <script> @someone ![i](//evil.example/i.png) https://evil.example #1\n| a |", Path: "a|b`.go", Line: 1})
	e.Parsed = false
	if err := m.Action(e); err != nil {
		t.Fatal(err)
	}
	if err := m.Action(entry(t, 2, script("x\n\n# y"), denied(record.VerdictDeny, "p", "m | n\n\n<b> `<b> @x` and ``` `` @y |", "@all `<i> | @z`"))); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, bad := range []string{"](https", "https://evil", "<script", "<img src=x", "<b>", "\n# y", "| a |"} {
		outside := withoutCode(got)
		if strings.Contains(outside, bad) {
			t.Errorf("%q is markup in:\n%s", bad, outside)
		}
	}
	if strings.Contains(withoutCode(got), "@") {
		t.Errorf("a mention is left in:\n%s", withoutCode(got))
	}
}

// withoutCode takes out fenced blocks and code spans, in which nothing is interpreted.
func withoutCode(md string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(md) {
		trimmed := strings.TrimRight(line, "\n")
		switch {
		case fence != "":
			if trimmed == fence {
				fence = ""
			}
		case strings.HasPrefix(line, "```"):
			fence = trimmed[:longestRun(trimmed, '`')]
		default:
			out.WriteString(withoutSpans(line))
		}
	}
	return out.String()
}

func withoutSpans(line string) string {
	var out strings.Builder
	for {
		at := strings.IndexByte(line, '`')
		if at < 0 {
			return out.String() + line
		}
		if at > 0 && line[at-1] == '\\' { // opens nothing
			out.WriteString(line[:at+1])
			line = line[at+1:]
			continue
		}
		out.WriteString(line[:at])
		n := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		end := strings.Index(line[at+n:], line[at:at+n])
		if end < 0 {
			return out.String() + line[at:]
		}
		line = line[at+n+end+n:]
	}
}

func TestMarkdownFits(t *testing.T) {
	var out bytes.Buffer
	m := NewMarkdown(&out)
	for i := range 500 {
		e := entry(t, i, argv("tool", strings.Repeat("x", 500)), ran("tool", 1, 1, strings.Repeat("line of output\n", 100), ""),
			trace.Finding{Rule: "r", Level: trace.LevelError, Message: strings.Repeat("m", 100), Path: "a.go", Line: i + 1})
		e.Parsed = false
		if err := m.Action(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if n := out.Len(); n > 65_000 {
		t.Errorf("%d bytes do not fit into a comment", n)
	}
	if !strings.Contains(out.String(), "more, in the SARIF log") {
		t.Error("what was left out is not counted")
	}
}
