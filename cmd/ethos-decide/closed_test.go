package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/hook"
	"ethos/pkg/policy"
	"ethos/pkg/record"

	"ethos/pkg/shorttest"
)

// gate is what an agent's documentation says of the event before a tool call and of its answers: testdata/events/NAME.json.
type gate struct {
	Event    string   `json:"gate"`
	Status   int      `json:"blocking_status"`        // 0 if none blocks
	Answers  []string `json:"blocking_answers"`       // on standard output
	AtStatus *int     `json:"answers_read_at_status"` // nil for any
}

func gateOf(dialect string) gate {
	var g gate
	text, err := os.ReadFile("../../testdata/events/" + dialect + ".json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil || g.Event == "" || len(g.Answers) == 0 {
		panic(fmt.Sprintf("testdata/events/%s.json: %v, %+v", dialect, err, g))
	}
	return g
}

// blockedIn reports whether an agent takes an answer for a refusal. It knows no more than the agents' documentation says.
func blockedIn(dialect string, status cli.Status, stdout string) bool {
	g := gateOf(dialect)
	if g.Status != 0 && int(status) == g.Status {
		return true
	}
	says := func(answer string) bool { return strings.Contains(stdout, answer) }
	return (g.AtStatus == nil || int(status) == *g.AtStatus) && slices.ContainsFunc(g.Answers, says)
}

// harmless is the record of an allowed command in a work space, as one agent would send it.
func harmless(t *testing.T, dialect, workspace string) *record.Line {
	t.Helper()
	e := hook.Event{
		Action: record.Action{Kind: record.KindShell, Script: "ls -la", Cwd: workspace},
		Actor:  record.Actor{Agent: dialect, Event: gateOf(dialect).Event, Tool: "Bash", Mode: record.ModeSafe},
	}
	l, err := derived(e, "/home/nobody")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// broken is a writer whose reader has gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// cannotDecide are the ways in which nothing can be decided. Each changes a harmless record, the flags, or the world.
var cannotDecide = map[string]func(t *testing.T, workspace string, l *record.Line) (input []byte, args []string){
	"no input":       func(*testing.T, string, *record.Line) ([]byte, []string) { return nil, nil },
	"malformed line": func(*testing.T, string, *record.Line) ([]byte, []string) { return []byte("{\n"), nil },
	"error line of the stage before": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return record.NewBadLine("invalid_json", "no event", nil).Line("facts", 1, time.Now()).AppendTo(nil), nil
	},
	"duplicate key": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return bytes.Replace(l.AppendTo(nil), []byte(`"actor":`), []byte(`"actor":null,"actor":`), 1), nil
	},
	"truncated": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		text := l.AppendTo(nil)
		return text[:len(text)/2], nil
	},
	"too long": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--max-line", "100"}
	},
	"missing facts": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		l.Delete("facts")
		return l.AppendTo(nil), nil
	},
	"missing actor": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		l.Delete("actor")
		return l.AppendTo(nil), nil
	},
	"incomplete facts": func(t *testing.T, _ string, l *record.Line) ([]byte, []string) {
		var f record.Facts
		if err := l.Decode("facts", &f); err != nil {
			t.Fatal(err)
		}
		f.Incomplete = []string{record.IncompleteParse}
		if err := l.Set("facts", f); err != nil {
			t.Fatal(err)
		}
		return l.AppendTo(nil), nil
	},
	"facts of another shape": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return bytes.Replace(l.AppendTo(nil), []byte(`"git":[]`), []byte(`"git":{}`), 1), nil
	},
	"evaluation error": withPolicy("shell.commands[99].name == 'x'"),
	// CEL charges contains for the product of both lengths.
	"cost overrun": withPolicy("lists.range(10).exists(i, '" + strings.Repeat("a", 5000) + "'.contains('" + strings.Repeat("a", 4999) + "b'))"),
	"duplicate ids": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		one := "  - {id: a, principle: person-decides, effect: warn, when: 'true', message: m, remedy: r}\n"
		return l.AppendTo(nil), policyFile(t, w, one+one)
	},
	"weakened policy": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), policyFile(t, w, "  - {id: files.delete_wide, effect: allow}\n")
	},
	"empty policy file": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		writeFile(t, filepath.Join(w, decide.ConsumerFile), "")
		return l.AppendTo(nil), nil
	},
	"unreadable policy file": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		writeFile(t, filepath.Join(w, decide.ConsumerFile, "in the way"), "")
		return l.AppendTo(nil), nil
	},
	"missing policy file": func(_ *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--policy", filepath.Join(w, "nothing.yml")}
	},
	"no name of a pack": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--pack", ""}
	},
	"policy file without policies": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), policyFile(t, w, "")
	},
	"directory without policies": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--policy", t.TempDir()}
	},
	"wrong example": func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), policyFile(t, w, "  - {id: a, principle: person-decides, effect: warn, when: 'false', message: m, remedy: r, examples: {deny: [ls], allow: [ls]}}\n")
	},
	"parent without a trust mode": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return bytes.Replace(l.AppendTo(nil), []byte(`"admin_approved":false`), []byte(`"admin_approved":false,"parent":{"session":"s"}`), 1), nil
	},
	// The line is as long as one may be, and decodes to two hundred times its size.
	"one line that decodes to all it can": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		text := l.AppendTo(nil)
		room := record.DefaultMaxLine - len(text)
		return bytes.Replace(text, []byte(`"commands":[`), append([]byte(`"commands":[`), bytes.Repeat([]byte(`{"name":"rm","argv":["-rf","/"],"opaque":true,"piped_from":["curl"]},`), room/70)...), 1), nil
	},
	"unknown pack": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--pack", "cor"}
	},
	"unknown flag": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--nothing"}
	},
	"flag without a value": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--mode"}
	},
	"session without a boundary": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--session", "auto"}
	},
	"answer that is not written": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--quiet"}
	},
	"records that cannot be kept": func(_ *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--records", filepath.Join(w, "no", "such", "directory")}
	},
	"records to no descriptor": func(_ *testing.T, _ string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), []string{"--records", "fd:999"}
	},
}

func withPolicy(when string) func(*testing.T, string, *record.Line) ([]byte, []string) {
	return func(t *testing.T, w string, l *record.Line) ([]byte, []string) {
		return l.AppendTo(nil), policyFile(t, w, "  - {id: a, principle: person-decides, effect: warn, message: m, remedy: r, when: \""+when+"\"}\n")
	}
}

func policyFile(t *testing.T, dir, policies string) []string {
	path := filepath.Join(dir, "p.yml")
	writeFile(t, path, "version: 1\npolicies:\n"+policies)
	return []string{"--policy", path}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// decided runs the program.
func decided(input []byte, out io.Writer, args ...string) (cli.Status, string) {
	var errs bytes.Buffer
	sys := &cli.System{Name: "ethos-decide", Stdin: bytes.NewReader(input), Stdout: out, Stderr: &errs, Dir: "/", Now: time.Now}
	return program(args).Run(context.Background(), sys, args), errs.String()
}

// TestFailsClosed is the matrix: whatever keeps a decision from being made, a harmless command is refused, in the plain form and in every dialect.
func TestFailsClosed(t *testing.T) {
	for name, spoil := range shorttest.SampleMap(cannotDecide, 4) {
		t.Run(name, func(t *testing.T) {
			for _, dialect := range hook.Dialects() {
				workspace := t.TempDir()
				input, args := spoil(t, workspace, harmless(t, dialect, workspace))
				var out bytes.Buffer
				status, message := decided(input, &out, append(args, "--reply", dialect)...)
				if !blockedIn(dialect, status, out.String()) {
					t.Errorf("%s: status %d, %s%s", dialect, status, out.String(), message)
				}
				if status != 0 && message == "" {
					t.Errorf("%s: status %d without a reason", dialect, status)
				}
			}
			if strings.HasPrefix(name, "records") || strings.HasPrefix(name, "answer") || name == "no input" {
				return // not of the plain form
			}
			workspace := t.TempDir()
			input, args := spoil(t, workspace, harmless(t, "claude", workspace))
			var out bytes.Buffer
			if status, message := decided(input, &out, args...); status < 1 || status > 3 || strings.Contains(out.String(), `"verdict":"allow"`) {
				t.Errorf("plain form: status %d, %s%s", status, out.String(), message)
			}
		})
	}
}

// TestPoliciesWithoutRecords: policies that cannot be used are an error in the plain form, also where no record comes; those that can are none.
func TestPoliciesWithoutRecords(t *testing.T) {
	dir := t.TempDir()
	one := "  - {id: a, principle: person-decides, effect: warn, when: 'WHEN', message: m, remedy: r}\n"
	for name, c := range map[string]struct {
		args []string
		want cli.Status
	}{
		"missing":     {[]string{"--policy", filepath.Join(dir, "nope")}, cli.BadInput},
		"empty":       {[]string{"--policy", t.TempDir()}, cli.BadInput},
		"wrong":       {policyFile(t, t.TempDir(), strings.Replace(one, "WHEN", "nothing.at.all", 1)), cli.BadInput},
		"right":       {policyFile(t, t.TempDir(), strings.Replace(one, "WHEN", "false", 1)), 0},
		"none":        {nil, 0},
		"pack":        {[]string{"--pack", "git"}, 0},
		"wrong, told": {append([]string{"-q"}, "--policy", filepath.Join(dir, "nope")), cli.BadInput},
	} {
		for _, input := range []string{"", "{\n"} {
			var out bytes.Buffer
			want := c.want
			if input != "" {
				want = cli.BadInput // the line
			}
			if status, message := decided([]byte(input), &out, c.args...); status != want {
				t.Errorf("%s: %q: status %d, %s", name, input, status, message)
			}
		}
	}
}

// answeredTo gives an agent's event to the pipe of its hook.
func answeredTo(t *testing.T, dialect, event string) (cli.Status, string, string) {
	t.Helper()
	workspace := t.TempDir()
	var input []byte
	e, err := hook.Decode(dialect, []byte(event), workspace)
	if fault := (*record.BadLine)(nil); errors.As(err, &fault) {
		input = fault.Line("facts", 1, time.Now()).AppendTo(nil)
	} else if err != nil {
		t.Fatal(err)
	} else {
		e.Actor.Mode = record.ModeSafe // as ethos-facts fills it in
		l, err := derived(e, "/home/nobody")
		if err != nil {
			t.Fatal(err)
		}
		input = l.AppendTo(nil)
	}
	var out bytes.Buffer
	status, message := decided(input, &out, "--reply", dialect, "--no-store")
	return status, out.String(), message
}

// callOf is an event of a dialect with a harmless command.
func callOf(dialect, event string, tool any) string {
	call := map[string]any{"cwd": "/", "session_id": "s", "turn_id": "t", "hook_event_name": event, "tool_name": tool, "tool": tool, "tool_input": map[string]any{}, "args": map[string]any{}}
	if dialect == "copilot" {
		call = map[string]any{"cwd": "/", "sessionId": "s", "hookEventName": event, "toolName": tool, "toolArgs": map[string]any{}}
	}
	text, err := json.Marshal(call)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestUnknownEvents: a gate's event under another name, or one that names no tool, is refused in every dialect, whatever it would run; the same
// event as it should be passes, and so do the known ones that are no gate.
func TestUnknownEvents(t *testing.T) {
	for _, dialect := range hook.Dialects() {
		gate := gateOf(dialect).Event
		tool := "Read"
		if dialect == "cursor" {
			gate, tool = "preToolUse", "SemanticSearch" // of all tools
		}
		for _, event := range []string{"\x00", "../..", strings.ToUpper(gate), gate + " ", " " + gate, gate + "\x00", "BeforeEverything", "preToolUses"} {
			status, out, message := answeredTo(t, dialect, callOf(dialect, event, tool))
			if !blockedIn(dialect, status, out) || !strings.Contains(message+out, "knows no event") {
				t.Errorf("%s: %q: status %d, %s%s", dialect, event, status, out, message)
			}
		}
		if status, out, message := answeredTo(t, dialect, callOf(dialect, "", tool)); dialect != "copilot" && !blockedIn(dialect, status, out) {
			t.Errorf("%s: no name: status %d, %s%s", dialect, status, out, message) // Copilot CLI's events have none
		}
		for _, none := range []any{nil, "", 1, []any{"bash"}} {
			if status, out, message := answeredTo(t, dialect, callOf(dialect, gate, none)); !blockedIn(dialect, status, out) {
				t.Errorf("%s: tool %v: status %d, %s%s", dialect, none, status, out, message)
			}
		}
		if status, out, message := answeredTo(t, dialect, callOf(dialect, gate, "TodoWrite")); status != 0 || blockedIn(dialect, status, out) || message != "" {
			t.Errorf("%s: %s: status %d, %s%s", dialect, gate, status, out, message)
		}
	}
	for dialect, events := range map[string][]string{
		"claude": {"SessionStart", "SessionEnd", "Stop", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"}, "codex": {"Stop", "SessionEnd", "PostToolUse"},
		"gemini": {"AfterTool", "BeforeModel", "SessionEnd"}, "cursor": {"stop", "afterFileEdit", "sessionStart"}, "copilot": {"postToolUse", "sessionStart", "errorOccurred"},
		"opencode": {"tool.execute.after"}, "mcp": {"session/end"},
	} {
		for _, event := range events {
			if status, out, message := answeredTo(t, dialect, callOf(dialect, event, "TodoWrite")); status != 0 || out != "" || message != "" {
				t.Errorf("%s: %s: status %d, %s%s", dialect, event, status, out, message)
			}
		}
	}
}

// TestDeadlineInEveryDialect holds that a decision that runs out of time is a refusal that says so.
func TestDeadlineInEveryDialect(t *testing.T) {
	slow := "  - {id: a, principle: person-decides, effect: warn, message: m, remedy: r, when: \"lists.range(300).exists(i, i > 300)\"}\n"
	for _, dialect := range hook.Dialects() {
		for limit, want := range map[time.Duration]bool{time.Nanosecond: true, time.Minute: false} {
			workspace := t.TempDir()
			policyFile(t, workspace, slow)
			command := &decideCmd{Reply: dialect, MaxLine: record.DefaultMaxLine,
				policyFlags: policyFlags{Policy: []string{filepath.Join(workspace, "p.yml")}, bounds: policy.Bounds{Deadline: limit}}}
			var out, errs bytes.Buffer
			input := bytes.NewReader(harmless(t, dialect, workspace).AppendTo(nil))
			err := command.Run(context.Background(), &cli.System{Name: "ethos-decide", Stdin: input, Stdout: &out, Stderr: &errs, Dir: "/", Now: time.Now})
			if err != nil || blockedIn(dialect, 0, out.String()) != want || want != strings.Contains(out.String(), "ran out of time") {
				t.Errorf("%s: deadline %s: %v, %s%s", dialect, limit, err, out.String(), errs.String())
			}
		}
	}
}

// TestHarmlessIsAllowed is the twin without which the matrix would prove nothing.
func TestHarmlessIsAllowed(t *testing.T) {
	for _, dialect := range hook.Dialects() {
		var out bytes.Buffer
		status, message := decided(harmless(t, dialect, t.TempDir()).AppendTo(nil), &out, "--reply", dialect)
		if status != 0 || message != "" || blockedIn(dialect, status, out.String()) {
			t.Errorf("%s: status %d, %s%s", dialect, status, out.String(), message)
		}
	}
}

// TestAnswerThatCannotBeWritten holds that a reader that has gone does not turn a denial into leave to run: the status is the one that blocks wherever a
// status can.
func TestAnswerThatCannotBeWritten(t *testing.T) {
	for _, dialect := range hook.Dialects() {
		l := harmless(t, dialect, t.TempDir())
		l.Delete("facts")
		if status, _ := decided(l.AppendTo(nil), broken{}, "--reply", dialect); status != 2 {
			t.Errorf("%s: status %d", dialect, status)
		}
	}
	l := harmless(t, "claude", t.TempDir())
	l.Delete("facts")
	if status, _ := decided(l.AppendTo(nil), broken{}); status == 0 {
		t.Errorf("plain form: status %d", status)
	}
}
