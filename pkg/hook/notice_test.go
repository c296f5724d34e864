package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"ethos/pkg/record"
)

// TestNotice: a notice stands in the answer where the dialect has a key that the
// agent shows, and changes nothing else of it; elsewhere it is for standard
// error.
func TestNotice(t *testing.T) {
	const text = "say \"it\"\nonce"
	shows := map[string]bool{
		"claude PreToolUse": true, "claude PermissionRequest": true, "claude PostToolUse": false, "codex PreToolUse": true, "gemini BeforeTool": true,
		"cursor preToolUse": false, "cursor beforeShellExecution": false, "copilot preToolUse": false, "copilot PreToolUse": true, "opencode tool.execute.before": false,
	}
	for name, want := range shows {
		dialect, event, _ := strings.Cut(name, " ")
		for _, verdict := range []string{record.VerdictAllow, record.VerdictAsk, record.VerdictDeny} {
			for _, rewritten := range []json.RawMessage{nil, json.RawMessage(`{"command":"x"}`)} {
				kind := record.KindShell
				if event == "PostToolUse" {
					kind = record.KindEvent
				}
				v := Verdict{Decision: &record.Decision{Verdict: verdict}, Action: &record.Action{Kind: kind}, Actor: &record.Actor{Event: event}, Rewritten: rewritten}
				plain, err := Reply(dialect, v)
				if err != nil {
					t.Fatal(err)
				}
				v.Notice = text
				told, err := Reply(dialect, v)
				if err != nil {
					t.Fatal(err)
				}
				var have, without map[string]any
				if len(plain.Output) > 0 {
					decodeJSON(t, plain.Output, &without)
				}
				if len(told.Output) > 0 {
					decodeJSON(t, told.Output, &have)
				}
				message, inside := have["systemMessage"]
				delete(have, "systemMessage")
				if inside != want || inside && message != text || !inside && told.Notice != text || inside && told.Notice != "" {
					t.Errorf("%s %s: %s %q", name, verdict, told.Output, told.Notice)
				}
				a, _ := json.Marshal(have)
				b, _ := json.Marshal(without)
				if len(have)+len(without) > 0 && string(a) != string(b) || told.Status != plain.Status || plain.Notice != "" {
					t.Errorf("%s %s: %s, without the notice %s", name, verdict, told.Output, plain.Output)
				}
			}
		}
	}
}

func decodeJSON(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}
