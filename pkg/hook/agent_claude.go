package hook

import (
	"encoding/json"

	"ethos/pkg/record"
)

// Events of Claude Code: https://code.claude.com/docs/en/hooks, "Hook input". Codex and the
// snake_case form of Copilot have the same frame. In both Claude Code and Codex, agent_id is
// present only if a sub-agent makes the call (openai/codex pull request 22882).

func claudeDialect() dialect {
	return dialect{
		ends:  "SessionEnd",
		reply: claudeReplier(), call: claudeCall, tools: claudeTools(), before: []string{"PreToolUse", "PermissionRequest"},
		after: []string{"PostToolUse", "PostToolUseFailure"}, // a command that fails has only the second one
		others: []string{
			"SessionStart", "Setup", "InstructionsLoaded", "UserPromptSubmit", "UserPromptExpansion",
			"MessageDisplay", "PermissionDenied", "PostToolBatch", "Notification", "SubagentStart",
			"SubagentStop", "TaskCreated", "TaskCompleted", "Stop", "StopFailure", "TeammateIdle",
			"ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate",
			"WorktreeRemove", "PreCompact", "PostCompact", "PostSession", "Elicitation",
			"ElicitationResult",
		},
		is: func(d record.Document) bool { return isText(d.Get("hook_event_name")) },
	}
}

func claudeTools() map[string]decoder {
	filePath, notebook, where := []string{"file_path"}, []string{"notebook_path"}, []string{"path"}
	return map[string]decoder{
		"Bash":         shell("", "command"),
		"PowerShell":   shell("", "command"),
		"Monitor":      shell("", "command"),
		"Skill":        tell, // whose command is the name of a skill
		"SlashCommand": tell,
		"Read":         file("read", filePath),
		"Write":        file("write", filePath, "content"),
		"Edit":         file("edit", filePath, "new_string"),
		"MultiEdit":    file("edit", filePath),
		"NotebookRead": file("read", notebook),
		"NotebookEdit": file("edit", notebook, "new_source"),
		"Glob":         look("list", where, "pattern"),
		"Grep":         look("read", where, ""),
		"LS":           look("list", where, ""),
		"WebFetch":     fetch("url"),
	}
}

// claudeCall reads the frame. A document is an event if it has hook_event_name.
func claudeCall(d record.Document) (call, error) {
	event := d.Get("hook_event_name")
	if !isText(event) {
		return call{}, missing("the event has no hook_event_name")
	}
	c := call{event: event.Str, session: d.Get("session_id").String(), mode: d.Get("permission_mode").String(), input: d.Get("tool_input")}
	var err error
	if c.cwd, err = optional(d, "cwd"); err != nil {
		return c, err
	}
	if c.tool, err = optional(d, "tool_name"); err != nil {
		return c, err
	}
	if c.child, err = optional(d, "agent_id"); err != nil {
		return c, err
	}
	c.server = mcpServer(c.tool)
	return c, nil
}

// Hook replies of Claude Code: https://code.claude.com/docs/en/hooks, "PreToolUse decision control"
// and "PermissionRequest decision control". updatedInput is documented with allow, which skips the
// person's own prompts, and with ask, which shows the person the rewritten call. Without either of
// them its effect is not documented. The person's deny and ask rules apply in both cases.
// systemMessage ("Common JSON fields") is shown to the user and has no effect on the decision. An
// empty reply leaves the user's own permission rules in force. Exit status 2 blocks, and its
// standard error is shown to the model.

type specificOutput struct {
	HookSpecificOutput any `json:"hookSpecificOutput"`
}

type preToolUse struct {
	HookEventName            string          `json:"hookEventName"`
	PermissionDecision       string          `json:"permissionDecision"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	UpdatedInput             json.RawMessage `json:"updatedInput,omitempty"`
}

type permissionRequest struct {
	HookEventName string             `json:"hookEventName"`
	Decision      permissionBehavior `json:"decision"`
}

type permissionBehavior struct {
	Behavior     string          `json:"behavior"`
	Message      string          `json:"message,omitempty"`
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
}

func claudeReplier() replier {
	return replier{
		status:  2,
		rewrite: func(event string) bool { return event != "PermissionRequest" },
		verdict: claudeVerdict,
		failure: func(string) any { return nil },
		notice:  always,
		context: specificContext,
	}
}

func claudeVerdict(v Verdict) any {
	if v.Actor.Event == "PermissionRequest" {
		return claudePermission(v)
	}
	out := preToolUse{HookEventName: gateOf(v), PermissionDecision: record.VerdictAllow, UpdatedInput: v.Rewritten}
	switch {
	case v.blocked():
		out.PermissionDecision, out.PermissionDecisionReason, out.UpdatedInput = v.Decision.Verdict, v.question(), nil
	case v.Rewritten == nil:
		return nil
	case v.Prompts:
		out.PermissionDecision, out.PermissionDecisionReason = record.VerdictAsk, confinedReason
	}
	return specificOutput{out}
}

// confinedReason is shown to a person who is asked about a rewritten call.
const confinedReason = "ethos allows it, and runs it inside of its boundary."

// claudePermission answers the dialog on the user's behalf if policy refuses. Otherwise the user is
// asked, as without a hook. The answer to the dialog cannot rewrite the call; PreToolUse has
// already handled it.
func claudePermission(v Verdict) any {
	if v.Decision.Verdict != record.VerdictDeny {
		return nil
	}
	return specificOutput{permissionRequest{gateOf(v), permissionBehavior{Behavior: "deny", Message: v.Reason()}}}
}

// gateOf returns the event name for the answer. A tool call without an event is answered as
// PreToolUse.
func gateOf(v Verdict) string {
	if v.Actor.Event == "" {
		return "PreToolUse"
	}
	return v.Actor.Event
}
