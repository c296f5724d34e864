package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ethos/pkg/record"
)

func verdictOf(kind, event, verdict string) Verdict {
	d := record.Decision{Verdict: verdict}
	if verdict != record.VerdictAllow {
		d.Matches = []record.Match{{ID: "p.one", Effect: verdict, Message: "No <that>.", Remedy: "Do this"}}
	}
	return Verdict{Decision: &d, Action: &record.Action{Kind: kind}, Actor: &record.Actor{Event: event}}
}

const (
	denyReason = "p.one: No <that>. Instead: Do this. Trying the same again will be refused again."
	askReason  = "p.one: No <that>. Instead: Do this. A person can approve it."
)

// TestReplies holds each dialect's answers to the letter.
func TestReplies(t *testing.T) {
	for _, c := range []struct{ dialect, event, kind, verdict, want string }{
		{"claude", "PreToolUse", "shell", "allow", ""},
		{"claude", "PreToolUse", "shell", "warn", ""},
		{"claude", "PreToolUse", "shell", "ask", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"` + askReason + `"}}`},
		{"claude", "PreToolUse", "file", "deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + denyReason + `"}}`},
		{"claude", "PreToolUse", "event", "deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + denyReason + `"}}`},
		{"claude", "PermissionRequest", "shell", "deny", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"` + denyReason + `"}}}`},
		{"claude", "PermissionRequest", "shell", "ask", ""},
		{"claude", "PostToolUse", "event", "deny", ""},
		{"claude", "Stop", "event", "deny", ""},
		{"claude", "", "shell", "deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + denyReason + `"}}`},
		{"codex", "PreToolUse", "shell", "allow", ""},
		{"codex", "PreToolUse", "shell", "ask", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + askReason + `"}}`},
		{"codex", "PreToolUse", "shell", "deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + denyReason + `"}}`},
		{"codex", "PermissionRequest", "shell", "ask", `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"` + askReason + `"}}}`},
		{"codex", "UserPromptSubmit", "event", "deny", ""},
		{"gemini", "BeforeTool", "shell", "allow", `{"decision":"allow"}`},
		{"gemini", "BeforeTool", "shell", "warn", `{"decision":"allow"}`},
		{"gemini", "BeforeTool", "shell", "ask", `{"decision":"deny","reason":"` + askReason + `"}`},
		{"gemini", "BeforeTool", "shell", "deny", `{"decision":"deny","reason":"` + denyReason + `"}`},
		{"gemini", "AfterTool", "event", "deny", ""},
		{"cursor", "beforeShellExecution", "shell", "allow", `{"permission":"allow"}`},
		{"cursor", "beforeShellExecution", "shell", "ask", `{"permission":"ask","user_message":"` + askReason + `","agent_message":"` + askReason + `"}`},
		{"cursor", "preToolUse", "shell", "allow", `{"permission":"allow"}`},
		{"cursor", "preToolUse", "shell", "ask", `{"permission":"deny","user_message":"` + askReason + `","agent_message":"` + askReason + `"}`},
		{"cursor", "beforeReadFile", "file", "deny", `{"permission":"deny","user_message":"` + denyReason + `","agent_message":"` + denyReason + `"}`},
		{"cursor", "afterFileEdit", "event", "deny", ""},
		{"copilot", "preToolUse", "shell", "allow", `{"permissionDecision":"allow"}`},
		{"copilot", "preToolUse", "shell", "ask", `{"permissionDecision":"ask","permissionDecisionReason":"` + askReason + `"}`},
		{"copilot", "preToolUse", "shell", "deny", `{"permissionDecision":"deny","permissionDecisionReason":"` + denyReason + `"}`},
		{"copilot", "PreToolUse", "shell", "deny", `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"` + denyReason + `"}}`},
		{"copilot", "postToolUse", "event", "deny", ""},
		{"opencode", "tool.execute.before", "shell", "allow", `{"decision":"allow"}`},
		{"opencode", "tool.execute.before", "shell", "ask", `{"decision":"deny","reason":"` + askReason + `"}`},
		{"opencode", "tool.execute.before", "shell", "deny", `{"decision":"deny","reason":"` + denyReason + `"}`},
	} {
		got, err := Reply(c.dialect, verdictOf(c.kind, c.event, c.verdict))
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.TrimSuffix(string(got.Output), "\n"); text != c.want || got.Status != 0 || got.Message != "" {
			t.Errorf("%s %s %s %s: %d %q\n got %s\nwant %s", c.dialect, c.event, c.kind, c.verdict, got.Status, got.Message, text, c.want)
		}
		if len(got.Output) > 0 && !json.Valid(got.Output) {
			t.Errorf("%s: not JSON", c.dialect)
		}
	}
}

// TestQuestions: an agent that asks says what a yes means, and does not ask where
// the call must not run outside of a boundary.
func TestQuestions(t *testing.T) {
	for _, c := range []struct {
		dialect, event  string
		bound, outside  bool
		verdict, reason string
	}{
		{"claude", "PreToolUse", false, false, "ask", ""},
		{"claude", "PreToolUse", false, true, "ask", "it runs outside of the boundary"},
		{"claude", "PreToolUse", true, true, "deny", "A person can approve it: `approve x`"},
		{"copilot", "preToolUse", false, true, "ask", "it runs outside of the boundary"},
		{"copilot", "preToolUse", true, true, "deny", "A person can approve it: `approve x`"},
		{"cursor", "beforeShellExecution", true, true, "deny", "A person can approve it: `approve x`"},
		{"codex", "PreToolUse", false, true, "deny", "A person can approve it: `approve x`"},
	} {
		v := verdictOf("shell", c.event, "ask")
		v.Bound, v.Outside, v.Approve = c.bound, c.outside, "approve x"
		answer, err := Reply(c.dialect, v)
		if err != nil {
			t.Fatal(err)
		}
		text := string(answer.Output)
		asked := strings.Contains(text, `ermission":"ask"`) || strings.Contains(text, `ermissionDecision":"ask"`)
		if asked != (c.verdict == "ask") || !strings.Contains(text, c.reason) || c.verdict == "deny" && strings.Contains(text, "answers yes here") {
			t.Errorf("%+v: %s", c, text)
		}
		if v.Decision.Verdict != "ask" {
			t.Errorf("%+v: the record was changed", c)
		}
	}
}

func TestRewrittenReplies(t *testing.T) {
	for dialect, want := range map[string]string{
		"claude":   `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}`,
		"codex":    `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"x"}}}`,
		"gemini":   `{"decision":"allow","hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"x"}}}`,
		"copilot":  `{"permissionDecision":"allow","modifiedArgs":{"command":"x"}}`,
		"cursor":   `{"permission":"allow","updated_input":{"command":"x"}}`,
		"opencode": `{"decision":"allow","args":{"command":"x"}}`,
	} {
		v := verdictOf("shell", gates[dialect], "allow")
		v.Rewritten = []byte(`{"command":"x"}`)
		got, err := Reply(dialect, v)
		if err != nil || strings.TrimSuffix(string(got.Output), "\n") != want {
			t.Errorf("%s: %s %v", dialect, got.Output, err)
		}
		v.Decision.Verdict = record.VerdictDeny
		if got, _ = Reply(dialect, v); strings.Contains(string(got.Output), `"command"`) {
			t.Errorf("%s: a denied call was rewritten: %s", dialect, got.Output)
		}
	}
}

// TestFailureBlocks holds that an internal failure blocks in each dialect's own way.
func TestFailureBlocks(t *testing.T) {
	const reason = "ethos could not decide, so this was not run: <x>"
	for dialect, want := range map[string]Answer{
		"claude":   {Message: reason, Status: 2},
		"codex":    {Message: reason, Status: 2},
		"gemini":   {Message: reason, Status: 2},
		"cursor":   {Output: []byte(`{"permission":"deny","user_message":"` + reason + `","agent_message":"` + reason + `"}` + "\n"), Message: reason, Status: 2},
		"copilot":  {Output: []byte(`{"permissionDecision":"deny","permissionDecisionReason":"` + reason + `"}` + "\n"), Message: reason},
		"opencode": {Output: []byte(`{"decision":"deny","reason":"` + reason + `"}` + "\n"), Message: reason, Status: 2},
		"nobody":   {Message: reason, Status: 2},
	} {
		got := Refuse(dialect, "<x>")
		if !bytes.Equal(got.Output, want.Output) || got.Message != want.Message || got.Status != want.Status {
			t.Errorf("%s: %q %q %d", dialect, got.Output, got.Message, got.Status)
		}
	}
	if _, err := Reply("nobody", verdictOf("shell", "", "deny")); err == nil {
		t.Error("an unknown dialect was answered")
	}
}

func TestReason(t *testing.T) {
	v := verdictOf("shell", "PreToolUse", "deny")
	for _, id := range []string{"p.two", "p.three", "p.four"} {
		v.Decision.Matches = append(v.Decision.Matches, record.Match{ID: id, Effect: "ask", Message: "M", Remedy: "R?"})
	}
	v.Decision.Matches = append(v.Decision.Matches, record.Match{ID: "p.warns", Effect: "warn", Message: "W", Remedy: "R"})
	want := "p.one: No <that>. Instead: Do this. p.two: M. Instead: R? p.three: M. Instead: R? Also refused by p.four. Trying the same again will be refused again."
	if got := v.Reason(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	v.Decision.Matches = nil
	v.Decision.Errors = []record.PolicyError{{ID: "p.one", Code: "policy.deadline", Message: "too slow"}, {Code: "decision.no_facts", Message: "none"}}
	want = "p.one (policy.deadline): too slow. decision.no_facts: none. Trying once more may help."
	if got := v.Reason(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
