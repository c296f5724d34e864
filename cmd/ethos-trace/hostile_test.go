package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ethos/pkg/cli"
	"ethos/pkg/printable"
	"ethos/pkg/record"
)

// maxReport bounds a report of one action, but for the frame of the HTML form.
const maxReport = 32 << 10

// FuzzHostileName puts a name that a command asked for through the store and
// every form of the report. Whatever it holds, the store stays whole, what
// people read is printable and short, and SARIF is valid.
func FuzzHostileName(f *testing.F) {
	f.Add("registry.npmjs.org", "not in the allow-list", "registry.npmjs.org:443", "denied-by-allowlist", 443)
	f.Add("a\x1b]0;title\a\x1b[2J\r\n\x00.example", "\u009b31m", "\x1b", "\b", 0)
	f.Add(strings.Repeat("a.", 5000)+"example", strings.Repeat("\u0301", 9000), strings.Repeat("a", 299), "x", 65535)
	f.Add("\xff\xfe\xc0\x80", "\xed\xa0\x80", "\xff", "\xff", -1)
	f.Add("gro\u202eelpmaxe\u2066.example", "\u2028\u200b\U000e0041", "\u202e", "\u00ad", 1)
	f.Add("[x](https://evil.example) @you #1 |`b`<script>alert(1)</script>", "![i](x) </td></table>", "$(id)", "--->", 80)
	f.Add("ethos-trace: error: nothing\nethos-trace: hint: run it\n", "\n\n## ok", "'; rm -rf ~", record.ConnectionUnresolved, 80)
	schema := sync.OnceValues(func() (*jsonschema.Schema, error) {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		return c.Compile("../../testdata/schema/sarif-schema-2.1.0.json")
	})
	f.Fuzz(func(t *testing.T, name, detail, remedy, reason string, port int) {
		h := hostileName{t: t, dir: t.TempDir(), line: lineOf(t, name, detail, remedy, reason, port)}
		h.readable("human", h.run(h.line, "--store", "s", "--sarif", "log.sarif"))
		for _, format := range []string{"markdown", "html"} {
			h.readable(format, h.run(h.line, "--no-store", "--format", format))
		}
		if _, err := record.ParseLine(bytes.TrimSuffix(h.run(h.line, "--no-store", "--format", "ndjson"), []byte("\n"))); err != nil {
			t.Errorf("ndjson: %v", err)
		}
		for _, args := range [][]string{{"verify"}, {"ls"}, {"show", "000000000001"}, {"stats"}} {
			h.readable(args[0], h.run(nil, append(args, "--store", "s")...))
		}
		compiled, err := schema()
		if err != nil {
			t.Fatal(err)
		}
		h.sarif(compiled, h.run(h.line, "--no-store", "--format", "sarif"))
	})
}

// lineOf is the record of a run that asked for a name twice.
func lineOf(t *testing.T, name, detail, remedy, reason string, port int) []byte {
	t.Helper()
	a := record.Action{Kind: record.KindExec, Argv: []string{"npm", "ci"}, Cwd: "/w", Workspace: "/w"}
	l := record.NewLine("0197f6a0-0000-7000-8000-000000000001", time.Unix(1_700_000_000, 0), a, record.Actor{Mode: record.ModeSafe})
	c := record.Connection{Time: "2026-01-02T03:04:05Z", Door: record.DoorConnect, Name: name, Port: port, Detail: detail, Remedy: remedy, Reason: reason}
	s := record.Sandbox{Connections: []record.Connection{c, c}}
	if c.Refused() {
		s.Denials = []record.Denial{c.Denial()}
	}
	c.Allowed = true
	s.Connections = append(s.Connections, c)
	for member, v := range map[string]any{
		"decision": record.Decision{Verdict: record.VerdictAllow},
		"result":   record.Result{Status: record.StatusExited, ExitCode: 1, Capture: record.Capture{Sandbox: s}},
	} {
		if err := l.Set(member, v); err != nil {
			t.Fatal(err)
		}
	}
	return l.AppendTo(nil)
}

type hostileName struct {
	t    *testing.T
	dir  string
	line []byte
}

// run is ethos-trace. Its status is of a command that failed, or 0.
func (h hostileName) run(in []byte, args ...string) []byte {
	h.t.Helper()
	var out, errs bytes.Buffer
	sys := &cli.System{Name: "ethos-trace", Stdin: bytes.NewReader(in), Stdout: &out, Stderr: &errs, Dir: h.dir, Now: time.Now}
	want := cli.OK
	if in != nil {
		want = cli.NegativeStatus
	}
	if got := program().Run(context.Background(), sys, args); got != want || errs.Len() > 0 {
		h.t.Errorf("%q: status %d, want %d: %s", args, got, want, errs.Bytes())
	}
	return out.Bytes()
}

func (h hostileName) readable(form string, text []byte) {
	h.t.Helper()
	if got := printable.Text(string(text)); got != string(text) {
		h.t.Errorf("%s holds what cannot be printed: %q", form, text)
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("ethos-trace: ")) {
			h.t.Errorf("%s: a line that passes for a message: %q", form, line)
		}
	}
	if body := bytes.Index(text, []byte("<body>")); body >= 0 {
		text = text[body:]
	}
	if len(text) > maxReport {
		h.t.Errorf("%s has %d bytes", form, len(text))
	}
}

func (h hostileName) sarif(schema *jsonschema.Schema, log []byte) {
	h.t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(log))
	if err == nil {
		err = schema.Validate(doc)
	}
	if err != nil {
		h.t.Errorf("sarif: %v", err)
	}
	var read struct {
		Runs []struct {
			Invocations []struct {
				Properties struct{ Sandbox record.Sandbox }
			}
			Results []struct {
				RuleID  string
				Message struct{ Text string }
			}
		}
	}
	if err := json.Unmarshal(log, &read); err != nil {
		h.t.Fatal(err)
	}
	denials := 0
	var texts []string
	for _, r := range read.Runs {
		for _, result := range r.Results {
			if result.RuleID == "runtime.sandbox_denial" {
				denials++
			}
			texts = append(texts, result.Message.Text)
		}
		for _, i := range r.Invocations {
			for _, c := range i.Properties.Sandbox.Connections {
				texts = append(texts, c.Name, c.Detail, c.Remedy, c.Reason)
			}
		}
	}
	for _, text := range texts {
		if printable.Line(text) != text || len(text) > 8<<10 {
			h.t.Errorf("sarif: %d bytes: %q", len(text), text)
		}
	}
	if denials > 1 {
		h.t.Errorf("%d results for one destination", denials)
	}
}
