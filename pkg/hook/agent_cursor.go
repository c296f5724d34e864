package hook

import (
	"encoding/json"
	"strings"

	"ethos/pkg/record"
)

// Events of Cursor: https://cursor.com/docs/agent/hooks. Most of them concern one tool each, and
// have its input at the top level.

// cursorTool returns the tool that an event concerns, or "" if it concerns all.
func cursorTool(event string) string {
	switch event {
	case "beforeShellExecution":
		return "Shell"
	case "beforeReadFile", "beforeTabFileRead":
		return "Read"
	case "beforeMCPExecution":
		return "MCP"
	}
	return ""
}

// cursorPreTool is the event before every tool, including the shell, which also has an event of its
// own.
const cursorPreTool = "preToolUse"

func cursorDialect() dialect {
	paths := []string{"file_path", "path", "target_file", "relative_workspace_path"}
	return dialect{
		reply: cursorReplier(), call: cursorCall,
		before: []string{"beforeShellExecution", "beforeReadFile", "beforeTabFileRead", "beforeMCPExecution", cursorPreTool},
		others: []string{
			"sessionStart", "sessionEnd", "workspaceOpen", "beforeSubmitPrompt", "afterAgentResponse",
			"afterAgentThought", "postToolUse", "postToolUseFailure", "afterShellExecution",
			"afterMCPExecution", "afterFileEdit", "afterTabFileEdit", "subagentStart", "subagentStop",
			"preCompact", "stop",
		},
		is: func(d record.Document) bool {
			event := d.Get("hook_event_name").Str
			return event != "" && event[0] >= 'a' && event[0] <= 'z' && !strings.Contains(event, ".") && !d.Get("toolName").Exists()
		},
		tools: map[string]decoder{
			"Shell":      cursorShell,
			"Read":       file("read", paths),
			"Write":      file("write", paths, "content", "contents"),
			"StrReplace": file("edit", paths, "new_string"),
			"Edit":       file("edit", paths, "new_string"),
			"TabWrite":   file("edit", paths),
			"Delete":     file("delete", paths),
			"Grep":       look("read", []string{"path"}, ""),
			"Glob":       look("list", []string{"target_directory", "path"}, "glob_pattern"),
			"LS":         look("list", []string{"target_directory", "path"}, ""),
			"WebFetch":   fetch("url"),
		},
	}
}

// cursorShell handles the shell, both of preToolUse and of its own event. The two have different
// names for the directory.
func cursorShell(c call) (record.Action, error) {
	if c.whole {
		return shell("cwd", "command")(c)
	}
	return shell("working_directory", "command")(c)
}

func cursorCall(d record.Document) (call, error) {
	c, err := claudeCall(d)
	if err != nil {
		return c, err
	}
	if c.session == "" {
		c.session = d.Get("conversation_id").String()
	}
	if c.cwd == "" {
		c.cwd = d.Get("workspace_roots.0").String()
	}
	switch tool := cursorTool(c.event); tool {
	case "":
		c.server = cursorServer(c)
	case "MCP":
		c.server = d.Get("url").String()
		if c.server == "" {
			c.server = d.Get("command").String()
		}
		c.input, err = objectOrText(c.input)
	default:
		c.tool, c.input, c.whole = tool, d.Get("@this"), true
	}
	return c, err
}

// cursorServer returns the server of an MCP tool that preToolUse names MCP:tool.
func cursorServer(c call) string {
	if strings.HasPrefix(c.tool, "MCP:") {
		return "cursor"
	}
	return mcpServer(c.tool)
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
		rewrite: only(cursorPreTool), status: 2,
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
