package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestRecordOf: the id of a confined call is read from the command that ran, as
// [Confine] writes it, and from no other place.
func TestRecordOf(t *testing.T) {
	const id = "01a2077d-b6db-7e4b-b137-1f3a8280d120"
	for command, want := range map[string]string{
		"ethos-sandbox shell --record " + id + " --profile agent-shell -c 'x'":         id,
		"/opt/e/ethos-sandbox shell --record " + id + " --session auto:c-1-2 -c 'x'":   id,
		"'/opt/my own/ethos-sandbox' shell --record " + id + " --profile p -c 'a b c'": id,
		"ethos-sandbox shell --profile agent-shell -c 'x'":                             "",
		"ethos-sandbox shell --record nothing -c 'x'":                                  "",
		"ethos-trace show --record " + id:                                              "",
		"npm ci":                                                                       "",
		"":                                                                             "",
	} {
		for key, value := range map[string]any{"command": command, "cmd": command} {
			text, err := json.Marshal(map[string]any{key: value, "description": "ethos-sandbox shell --record " + id})
			if err != nil {
				t.Fatal(err)
			}
			if got := RecordOf(&record.Action{Input: text}); got != want {
				t.Errorf("%s: %q: %q", key, command, got)
			}
		}
	}
	a := record.Action{Input: json.RawMessage(`{"command":["ethos-sandbox","run","--record","` + id + `","--","ls"]}`)}
	if got := RecordOf(&a); got != id {
		t.Errorf("an argument vector: %q", got)
	}
}

func failed(denials ...record.Denial) *record.Result {
	r := &record.Result{Status: record.StatusExited, ExitCode: 1}
	r.Capture.Sandbox.Denials = denials
	return r
}

// TestRefusals: a failed call's denials are told with how certain they are and
// with what a person does; of a call that succeeded, and of one that failed by
// itself, nothing is.
func TestRefusals(t *testing.T) {
	hidden := record.Denial{Layer: "mount", What: "/home/u/\x1b[2Jx", Reason: "exists outside and is hidden inside", Kind: record.KindHidden, Certainty: record.Inferred, Remedy: "--ro /home/u/x", Declare: "read_paths: [~/x]"}
	never := record.Denial{Layer: "mount", What: "/home/u/.ssh", Reason: "no declaration allows it", Kind: record.KindHidden}
	git := record.Denial{Layer: "git", What: "hook", Reason: "was put aside", Remedy: "mv it back"}
	name := record.Denial{Layer: record.LayerNetwork, What: "a.example:443", Reason: "not allowed", Kind: record.KindName, Remedy: "--allow-domain a.example"}
	way := func(d *record.Denial) string {
		return WayOut(d, "ID", func(host string) bool { return host == "a.example" })
	}
	got := Refusals("ID", failed(hidden, never, git, name), way)
	for _, want := range []string{
		`- mount: /home/u/\x1b[2Jx: exists outside and is hidden inside (inferred). To allow it: a person writes read_paths: [~/x] below sandbox in repo_config.yaml`,
		"- mount: /home/u/.ssh: no declaration allows it.\n", "For a person: mv it back.", "ethos-decide approve ID;",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "--ro") || strings.Contains(got, "\x1b") {
		t.Errorf("not for a model: %q", got)
	}
	passed := failed(hidden)
	passed.ExitCode = 0
	if got := Refusals("ID", passed, way) + Refusals("ID", failed(), way); got != "" {
		t.Errorf("nothing was to be said: %q", got)
	}
	var many []record.Denial
	for range 40 {
		many = append(many, hidden)
	}
	if got := Refusals("ID", failed(many...), way); strings.Count(got, "\n- mount") != maxTold || !strings.Contains(got, "28 more: ethos-trace show ID") {
		t.Errorf("not bounded: %s", got)
	}
}

// TestContext holds the answers to events after a call to the letter.
func TestContext(t *testing.T) {
	for _, c := range []struct{ dialect, event, want string }{
		{"claude", "PostToolUseFailure", `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"<x>"}}`},
		{"claude", "PostToolUse", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"<x>"}}`},
		{"codex", "PostToolUse", `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"<x>"}}`},
		{"gemini", "AfterTool", `{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"<x>"}}`},
		{"opencode", "tool.execute.after", `{"context":"<x>"}`},
		{"claude", "PreToolUse", ""},
		{"cursor", "afterShellExecution", ""},
		{"copilot", "postToolUse", ""},
		{"nobody", "PostToolUse", ""},
	} {
		got := Context(c.dialect, &record.Actor{Event: c.event}, "<x>")
		if text := strings.TrimSuffix(string(got.Output), "\n"); text != c.want || got.Status != 0 || got.Message != "" {
			t.Errorf("%s %s: %+v\n%s", c.dialect, c.event, got, text)
		}
		if got := Context(c.dialect, &record.Actor{Event: c.event}, ""); got.Output != nil {
			t.Errorf("%s %s: not silent: %s", c.dialect, c.event, got.Output)
		}
	}
}
