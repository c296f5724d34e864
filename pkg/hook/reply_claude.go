package hook

import (
	"encoding/json"

	"ethos/pkg/record"
)

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
		name: "claude", status: 2,
		rewrite: func(event string) bool { return event != "PermissionRequest" },
		verdict: claudeVerdict,
		failure: func(string) any { return nil },
		notice:  always,
	}
}

func claudeVerdict(v Verdict) any {
	if v.Actor.Event == "PermissionRequest" {
		return claudePermission(v)
	}
	out := preToolUse{HookEventName: gateOf(v), PermissionDecision: record.VerdictAllow, UpdatedInput: v.Rewritten}
	switch {
	case v.blocked():
		out.PermissionDecision, out.PermissionDecisionReason, out.UpdatedInput = v.Decision.Verdict, v.Reason(), nil
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
