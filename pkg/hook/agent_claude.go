package hook

import (
	"strings"

	"ethos/pkg/record"
)

// Events of Claude Code: https://code.claude.com/docs/en/hooks, "Hook input". Codex and the
// snake_case form of Copilot have the same frame. In both Claude Code and Codex, agent_id is
// present only if a sub-agent makes the call (openai/codex pull request 22882).

func claudeDialect() dialect {
	return dialect{
		ends: "SessionEnd",
		name: "claude", call: claudeCall, tools: claudeTools(), before: []string{"PreToolUse", "PermissionRequest"},
		after: []string{"PostToolUse", "PostToolUseFailure"}, // a command that fails has only the second one
		is:    func(d record.Document) bool { return isText(d.Get("hook_event_name")) },
	}
}

func claudeTools() map[string]decoder {
	filePath, notebook, where := []string{"file_path"}, []string{"notebook_path"}, []string{"path"}
	return map[string]decoder{
		"Bash":         shell("", "command"),
		"PowerShell":   shell("", "command"),
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

// mcpServer returns the server of mcp__server__tool.
func mcpServer(tool string) string {
	if rest, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, _, _ := strings.Cut(rest, "__")
		return server
	}
	return ""
}

// optional reads a string that may be absent or null.
func optional(d record.Document, key string) (string, error) {
	v := d.Get(key)
	if !v.Exists() || v.Raw == "null" {
		return "", nil
	}
	return text(v, key)
}
