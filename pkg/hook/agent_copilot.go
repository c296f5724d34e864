package hook

import (
	"encoding/json"

	"ethos/pkg/record"
)

// Events of Copilot CLI: https://docs.github.com/copilot/reference/hooks-configuration. toolArgs is
// an object, or JSON in a string. The snake_case form of VS Code has Claude's frame.

func copilotDialect() dialect {
	where, content := []string{"path", "file_path", "filePath"}, []string{"file_text", "content", "new_str", "newString"}
	run := shell("cwd", "command")
	tools := map[string]decoder{
		"bash": run, "shell": run, "powershell": run, "run_in_terminal": run, "runInTerminal": run,
		"create": file("write", where, content...), "write": file("write", where, content...), "create_file": file("write", where, content...),
		"edit": file("edit", where, content...), "str_replace": file("edit", where, content...), "replace_string_in_file": file("edit", where, content...),
		"str_replace_editor": copilotEditor, "insert_edit_into_file": file("edit", where, "code"),
		"view": file("read", where), "read": file("read", where), "read_file": file("read", where),
		"delete": file("delete", where), "delete_file": file("delete", where),
		"glob": look("list", where, "pattern"), "grep": look("read", where, ""), "list_dir": look("list", where, ""),
		"apply_patch": patch("input", "patch", "command"),
		"web_fetch":   fetch("url"), "fetch": fetch("url"),
	}
	return dialect{
		reply: copilotReplier(), call: copilotCall, tools: tools, before: []string{"preToolUse", "PreToolUse"},
		// The second half is of the form for VS Code. permissionRequest is a gate that takes another answer.
		others: []string{
			"sessionStart", "sessionEnd", "userPromptSubmitted", "userPromptTransformed", "postToolUse",
			"postToolUseFailure", "agentStop", "subagentStart", "subagentStop", "preCompact",
			"errorOccurred", "notification", "SessionStart", "SessionEnd", "UserPromptSubmit",
			"PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "PreCompact", "ErrorOccurred",
			"Notification",
		},
		typed: always, // its shells persist, and write_bash types into them
		is:    func(d record.Document) bool { return d.Get("toolName").Exists() },
	}
}

// copilotEditor handles a tool with several commands, all of which except view change the file.
func copilotEditor(c call) (record.Action, error) {
	op := "edit"
	switch c.input.Get("command").Str {
	case "view":
		op = "read"
	case "create":
		op = "write"
	}
	return file(op, []string{"path"}, "file_text", "new_str")(c)
}

func copilotCall(d record.Document) (call, error) {
	if !d.Get("toolName").Exists() && d.Get("hook_event_name").Exists() {
		return claudeCall(d)
	}
	c := call{event: d.Get("hookEventName").String(), session: d.Get("sessionId").String(), input: d.Get("toolArgs")}
	var err error
	if c.cwd, err = optional(d, "cwd"); err != nil {
		return c, err
	}
	if c.tool, err = optional(d, "toolName"); err != nil {
		return c, err
	}
	if c.event == "" {
		c.event = copilotEvent(d)
	}
	if c.event == "" {
		return c, missing("the event has no toolName and no hook_event_name")
	}
	c.server = mcpServer(c.tool)
	if c.tool != "" {
		c.input, err = objectOrText(c.input)
	}
	return c, err
}

// copilotEvent recognises an event by its keys, because events have no name.
func copilotEvent(d record.Document) string {
	switch {
	case d.Get("toolName").Exists() && d.Get("toolResult").Exists():
		return "postToolUse"
	case d.Get("toolName").Exists():
		return "preToolUse"
	case d.Get("prompt").Exists():
		return "userPromptSubmitted"
	case d.Get("source").Exists():
		return "sessionStart"
	case d.Get("reason").Exists():
		return "sessionEnd"
	case d.Get("error").Exists():
		return "errorOccurred"
	}
	return ""
}

// objectOrText reads an object, or a string that contains one as JSON.
func objectOrText(v record.Value) (record.Value, error) {
	if !isText(v) {
		return v, nil
	}
	doc, err := record.ParseDocument([]byte(v.Str))
	if err != nil {
		return v, record.NewBadLine(record.CodeWrongType, "the tool's arguments are not JSON: "+err.Error(), nil)
	}
	if !doc.IsObject() {
		return v, record.NewBadLine(record.CodeWrongType, "the tool's arguments are not an object", nil)
	}
	return doc.Get("@this"), nil
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
		rewrite: always, status: 0,
		notice: only("PreToolUse"), // Claude's format
		verdict: func(v Verdict) any {
			if v.Actor.Event == "PreToolUse" {
				return claudeVerdict(v)
			}
			if v.blocked() {
				return copilotReply{PermissionDecision: v.Decision.Verdict, PermissionDecisionReason: v.question()}
			}
			return copilotReply{PermissionDecision: record.VerdictAllow, ModifiedArgs: v.Rewritten}
		},
		failure: func(reason string) any {
			return copilotReply{PermissionDecision: record.VerdictDeny, PermissionDecisionReason: reason}
		},
	}
}
