package hook

import "ethos/pkg/record"

// Codex accepts Claude's format, but strictly: if a reply has an unknown key or an unknown
// decision, Codex runs the call as if there were no hook. It knows deny, and allow only together
// with updatedInput; ask becomes deny (codex-rs/hooks, PreToolUse output parser).

func codexReplier() replier {
	return replier{
		name: "codex", rewrite: only("PreToolUse"), status: 2,
		verdict: codexVerdict,
		failure: func(string) any { return nil },
		notice:  always, // of the keys common to all events, its parser refuses continue, stopReason and suppressOutput
	}
}

func codexVerdict(v Verdict) any {
	switch {
	case v.blocked() && v.Actor.Event == "PermissionRequest":
		return specificOutput{permissionRequest{gateOf(v), permissionBehavior{Behavior: "deny", Message: v.Reason()}}}
	case v.blocked():
		return specificOutput{preToolUse{HookEventName: gateOf(v), PermissionDecision: record.VerdictDeny, PermissionDecisionReason: v.Reason()}}
	case v.Rewritten != nil && v.Actor.Event == "PreToolUse":
		return specificOutput{preToolUse{HookEventName: gateOf(v), PermissionDecision: record.VerdictAllow, UpdatedInput: v.Rewritten}}
	}
	return nil
}
