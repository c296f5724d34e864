package hook

import (
	"encoding/json"

	"ethos/pkg/record"
)

// The dialects whose reply is one flat object.

type decisionReason struct {
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Specific *geminiSpecific `json:"hookSpecificOutput,omitempty"` // Gemini
	Args     json.RawMessage `json:"args,omitempty"`               // OpenCode
}

type geminiSpecific struct {
	HookEventName string          `json:"hookEventName"`
	ToolInput     json.RawMessage `json:"tool_input"`
}

// geminiReplier is the reply side of Gemini CLI: decision is allow or deny, and
// hookSpecificOutput.tool_input replaces the arguments. Exit status 2 blocks
// (docs/hooks/reference.md in google-gemini/gemini-cli).
func geminiReplier() replier {
	return replier{
		name: "gemini", rewrite: always, status: 2,
		verdict: func(v Verdict) any {
			if v.blocked() {
				return decisionReason{Decision: record.VerdictDeny, Reason: v.Reason()}
			}
			out := decisionReason{Decision: record.VerdictAllow}
			if v.Rewritten != nil {
				out.Specific = &geminiSpecific{HookEventName: "BeforeTool", ToolInput: v.Rewritten}
			}
			return out
		},
		failure: func(string) any { return nil },
		notice:  always,
	}
}

// bridgeReplier is the reply side of ethos's own bridges. The plug-in for OpenCode throws the
// reason of a deny, which prevents the tool's run, and replaces the tool's arguments by args
// (examples/opencode). The MCP server reports to its client.
func bridgeReplier(name string) replier {
	return replier{
		name: name, rewrite: always, status: 2,
		verdict: func(v Verdict) any {
			if v.blocked() {
				return decisionReason{Decision: record.VerdictDeny, Reason: v.Reason()}
			}
			return decisionReason{Decision: record.VerdictAllow, Args: v.Rewritten}
		},
		failure: func(reason string) any { return decisionReason{Decision: record.VerdictDeny, Reason: reason} },
	}
}

type cursorReply struct {
	Permission   string          `json:"permission"`
	UserMessage  string          `json:"user_message,omitempty"`
	AgentMessage string          `json:"agent_message,omitempty"`
	UpdatedInput json.RawMessage `json:"updated_input,omitempty"` // only of preToolUse
}

// cursorReplier is the reply side of Cursor: permission is always present, and exit status 2 means
// deny (cursor.com/docs/agent/hooks).
func cursorReplier() replier {
	return replier{
		name: "cursor", rewrite: only(cursorPreTool), status: 2,
		verdict: cursorVerdict,
		failure: func(reason string) any {
			return cursorReply{Permission: record.VerdictDeny, UserMessage: reason, AgentMessage: reason}
		},
	}
}

// cursorVerdict depends on the event. preToolUse treats ask as consent, so it gets a deny; it is
// the only event that accepts another input.
func cursorVerdict(v Verdict) any {
	before := v.Actor.Event == cursorPreTool
	switch {
	case v.blocked() && before:
		return cursorReply{Permission: record.VerdictDeny, UserMessage: v.Reason(), AgentMessage: v.Reason()}
	case v.blocked():
		return cursorReply{Permission: v.Decision.Verdict, UserMessage: v.Reason(), AgentMessage: v.Reason()}
	case before:
		return cursorReply{Permission: record.VerdictAllow, UpdatedInput: v.Rewritten}
	}
	return cursorReply{Permission: record.VerdictAllow}
}

type copilotReply struct {
	PermissionDecision       string          `json:"permissionDecision"`
	PermissionDecisionReason string          `json:"permissionDecisionReason,omitempty"`
	ModifiedArgs             json.RawMessage `json:"modifiedArgs,omitempty"`
}

// copilotReplier is the reply side of Copilot CLI. A reply is read only at exit status 0, so a
// failure is encoded as a deny (docs.github.com/copilot/reference/hooks-configuration). The form
// for VS Code has Claude's event name and Claude's format.
func copilotReplier() replier {
	return replier{
		name: "copilot", rewrite: always, status: 0,
		notice: only("PreToolUse"), // Claude's format
		verdict: func(v Verdict) any {
			if v.Actor.Event == "PreToolUse" {
				return claudeVerdict(v)
			}
			if v.blocked() {
				return copilotReply{PermissionDecision: v.Decision.Verdict, PermissionDecisionReason: v.Reason()}
			}
			return copilotReply{PermissionDecision: record.VerdictAllow, ModifiedArgs: v.Rewritten}
		},
		failure: func(reason string) any {
			return copilotReply{PermissionDecision: record.VerdictDeny, PermissionDecisionReason: reason}
		},
	}
}
