package hook

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"ethos/pkg/record"
)

// Events of Gemini CLI: docs/hooks/reference.md in google-gemini/gemini-cli; tools: docs/tools.

func geminiDialect() dialect {
	filePath, dir := []string{"file_path", "absolute_path"}, []string{"dir_path", "path"}
	search := look("read", dir, "")
	return dialect{
		ends:  "SessionEnd",
		reply: geminiReplier(), call: geminiCall, before: []string{"BeforeTool"},
		after: []string{"AfterTool"},
		others: []string{
			"SessionStart", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
			"PreCompress", "Notification",
		},
		is: func(d record.Document) bool {
			event := d.Get("hook_event_name").Str
			return strings.HasPrefix(event, "Before") || strings.HasPrefix(event, "After")
		},
		tools: map[string]decoder{
			"run_shell_command":   shell2("dir_path", "directory", "command"),
			"write_file":          file("write", filePath, "content"),
			"replace":             file("edit", filePath, "new_string"),
			"edit":                file("edit", filePath, "new_string"),
			"read_file":           file("read", filePath),
			"read_many_files":     several("read", "include", "paths"),
			"list_directory":      look("list", dir, ""),
			"glob":                look("list", dir, "pattern"),
			"search_file_content": search,
			"grep_search":         search,
			"web_fetch":           geminiFetch,
		},
	}
}

func geminiCall(d record.Document) (call, error) {
	c, err := claudeCall(d)
	if server := d.Get("mcp_context.server_name"); isText(server) {
		c.server = server.Str
	}
	return c, err
}

// shell2 handles a shell tool whose directory has two names.
func shell2(dirKey, oldDirKey string, keys ...string) decoder {
	return func(c call) (record.Action, error) {
		if c.input.Get(dirKey).Exists() {
			return shell(dirKey, keys...)(c)
		}
		return shell(oldDirKey, keys...)(c)
	}
}

// geminiFetch reads the addresses from the prompt, which is the only argument of the tool. The tool
// fetches each of them, but a record has only one, so a prompt with addresses of different hosts is
// refused.
func geminiFetch(c call) (record.Action, error) {
	if c.input.Get("url").Exists() {
		return fetch("url")(c)
	}
	v, key, err := c.first([]string{"prompt"})
	if err != nil {
		return record.Action{}, err
	}
	prompt, err := text(v, key)
	if err != nil {
		return record.Action{}, err
	}
	first, host := "", ""
	for _, word := range strings.Fields(prompt) {
		address, err := url.Parse(strings.Trim(word, `"'()<>[],.;`))
		if err != nil || address.Host == "" {
			continue
		}
		switch {
		case first == "":
			first, host = address.String(), address.Host
		case address.Host != host:
			return record.Action{}, fmt.Errorf("the prompt names addresses of several hosts, %s and %s: fetch one at a time", host, address.Host)
		}
	}
	if first == "" {
		return record.Action{}, fmt.Errorf("the prompt names no address")
	}
	return record.Action{Kind: record.KindFetch, URL: first}, nil
}

type geminiReply struct {
	Decision string          `json:"decision"`
	Reason   string          `json:"reason,omitempty"`
	Specific *geminiSpecific `json:"hookSpecificOutput,omitempty"`
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
		rewrite: always, status: 2,
		verdict: func(v Verdict) any {
			if v.blocked() {
				return geminiReply{Decision: record.VerdictDeny, Reason: v.Reason()}
			}
			out := geminiReply{Decision: record.VerdictAllow}
			if v.Rewritten != nil {
				out.Specific = &geminiSpecific{HookEventName: "BeforeTool", ToolInput: v.Rewritten}
			}
			return out
		},
		failure: func(string) any { return nil },
		notice:  always,
		context: specificContext,
	}
}
