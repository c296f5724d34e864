package hook

import (
	"encoding/json"
	"strings"

	"ethos/pkg/record"
)

// OpenCode has no hook protocol. The plug-in of ethos writes {hook_event_name, session_id, cwd,
// tool, args} in its tool.execute.before. The MCP server of ethos writes the same.

func opencodeDialect() dialect {
	filePath, where := []string{"filePath"}, []string{"path"}
	return dialect{
		reply: bridgeReplier(), call: openCodeCall, before: []string{"tool.execute.before"},
		after: []string{"tool.execute.after"},
		is:    func(d record.Document) bool { return strings.Contains(d.Get("hook_event_name").Str, ".") },
		tools: map[string]decoder{
			"bash":        shell("workdir", "command"),
			"read":        file("read", filePath),
			"write":       file("write", filePath, "content"),
			"edit":        file("edit", filePath, "newString"),
			"multiedit":   file("edit", filePath),
			"patch":       patch("patchText"),
			"apply_patch": patch("patchText"),
			"glob":        look("list", where, "pattern"),
			"grep":        look("read", where, ""),
			"list":        look("list", where, ""),
			"webfetch":    fetch("url"),
		},
	}
}

func openCodeCall(d record.Document) (call, error) {
	event := d.Get("hook_event_name")
	if !isText(event) {
		return call{}, missing("the event has no hook_event_name")
	}
	c := call{event: event.Str, session: d.Get("session_id").String(), mode: d.Get("mode").String(), input: d.Get("args")}
	var err error
	if c.cwd, err = optional(d, "cwd"); err != nil {
		return c, err
	}
	if c.tool, err = optional(d, "tool"); err == nil && c.tool == "" && strings.HasPrefix(c.event, "tool.") {
		err = missing("the event names no tool")
	}
	return c, err
}

// bridgeReplier is the reply side of ethos's own bridges. The plug-in for OpenCode throws the
// reason of a deny, which prevents the tool's run, and replaces the tool's arguments by args
// (examples/opencode). The MCP server reports to its client.
func bridgeReplier() replier {
	return replier{
		rewrite: always, status: 2,
		verdict: func(v Verdict) any {
			if v.blocked() {
				return bridgeReply{Decision: record.VerdictDeny, Reason: v.Reason()}
			}
			return bridgeReply{Decision: record.VerdictAllow, Args: v.Rewritten}
		},
		failure: func(reason string) any { return bridgeReply{Decision: record.VerdictDeny, Reason: reason} },
		context: func(_, text string) any { return bridgeContext{text} },
	}
}

type bridgeReply struct {
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
}

type bridgeContext struct {
	Context string `json:"context"`
}
