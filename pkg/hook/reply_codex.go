package hook

import "ethos/pkg/record"

// Codex takes Claude's shape, and strictly: an unknown key, or a decision it does not know, makes it run the call as if there had been no
// hook. It knows deny, and allow only together with updatedInput; ask becomes deny (codex-rs/hooks, PreToolUse output parser).

func codexReplier() replier {
	return replier{
		name: "codex", rewrite: only("PreToolUse"), status: 2,
		verdict: codexVerdict,
		failure: func(string) any { return nil },
		notice:  always, // of the keys that every event has, its parser refuses others: continue, stopReason, suppressOutput
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
