package hook

import "ethos/pkg/record"

// Events of ethos's own MCP server, for agents without hooks: {hook_event_name, session_id, cwd,
// mode, tool, args}, for the tools that the server has.

const (
	mcpCalls = "tools/call"
	mcpEnds  = "session/end"
)

func mcpDialect() dialect {
	where := []string{"path"}
	return dialect{
		reply: bridgeReplier(), call: openCodeCall, before: []string{mcpCalls}, ends: mcpEnds,
		is: func(d record.Document) bool {
			event := d.Get("hook_event_name").Str
			return event == mcpCalls || event == mcpEnds
		},
		tools: map[string]decoder{
			"run":    shell("cwd", "command"),
			"read":   file("read", where),
			"write":  file("write", where, "content"),
			"edit":   file("edit", where, "content"),
			"delete": file("delete", where),
			"list":   look("list", where, ""),
		},
	}
}
