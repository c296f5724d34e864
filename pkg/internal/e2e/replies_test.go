package e2e

// The replies of hooks as the agents document them, the members that ethos may use. The order is that of ethos's own replies.

type reply interface{ answer() answer }

var documented = map[string]func() reply{
	"claude":   func() reply { return new(claudeReply) },
	"codex":    func() reply { return new(claudeReply) },
	"gemini":   func() reply { return new(geminiReply) },
	"cursor":   func() reply { return new(cursorReply) },
	"copilot":  func() reply { return new(copilotReply) },
	"opencode": func() reply { return new(openCodeReply) },
}

// claudeReply: code.claude.com/docs/en/hooks, "PreToolUse decision control" and "PermissionRequest decision control". Codex:
// codex-rs/hooks/schema/generated/pre-tool-use.command.output.schema.json and permission-request.command.output.schema.json.
type claudeReply struct {
	HookSpecificOutput struct {
		HookEventName            string         `json:"hookEventName"`
		PermissionDecision       string         `json:"permissionDecision,omitempty"`
		PermissionDecisionReason string         `json:"permissionDecisionReason,omitempty"`
		UpdatedInput             map[string]any `json:"updatedInput,omitempty"`
		Decision                 *struct {
			Behavior string `json:"behavior"`
			Message  string `json:"message,omitempty"`
		} `json:"decision,omitempty"`
	} `json:"hookSpecificOutput"`
}

func (r *claudeReply) answer() answer {
	out := r.HookSpecificOutput
	if out.Decision != nil {
		return answer{decision: out.Decision.Behavior, reason: out.Decision.Message}
	}
	return answer{out.PermissionDecision, out.PermissionDecisionReason, out.UpdatedInput}
}

// geminiReply: docs/hooks/reference.md of Gemini CLI, "BeforeTool".
type geminiReply struct {
	Decision           string `json:"decision"`
	Reason             string `json:"reason,omitempty"`
	HookSpecificOutput *struct {
		HookEventName string         `json:"hookEventName"`
		ToolInput     map[string]any `json:"tool_input,omitempty"`
	} `json:"hookSpecificOutput,omitempty"`
}

func (r *geminiReply) answer() answer {
	a := answer{decision: r.Decision, reason: r.Reason}
	if r.HookSpecificOutput != nil {
		a.input = r.HookSpecificOutput.ToolInput
	}
	return a
}

// cursorReply: cursor.com/docs/agent/hooks, "preToolUse" and "beforeShellExecution / beforeMCPExecution".
type cursorReply struct {
	Permission   string         `json:"permission"`
	UserMessage  string         `json:"user_message,omitempty"`
	AgentMessage string         `json:"agent_message,omitempty"`
	UpdatedInput map[string]any `json:"updated_input,omitempty"`
}

func (r *cursorReply) answer() answer { return answer{r.Permission, r.AgentMessage, r.UpdatedInput} }

// copilotReply: docs.github.com/copilot/reference/hooks-configuration, "Pre-tool use hook". The form of VS Code is Claude's.
type copilotReply struct {
	PermissionDecision       string         `json:"permissionDecision,omitempty"`
	PermissionDecisionReason string         `json:"permissionDecisionReason,omitempty"`
	ModifiedArgs             map[string]any `json:"modifiedArgs,omitempty"`
	*claudeReply
}

func (r *copilotReply) answer() answer {
	if r.claudeReply != nil {
		return r.claudeReply.answer()
	}
	return answer{r.PermissionDecision, r.PermissionDecisionReason, r.ModifiedArgs}
}

// openCodeReply is what our plug-in reads (examples/opencode).
type openCodeReply struct {
	Decision string         `json:"decision"`
	Reason   string         `json:"reason,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
}

func (r *openCodeReply) answer() answer { return answer{r.Decision, r.Reason, r.Args} }
