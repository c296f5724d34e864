package hook

import (
	"fmt"
	"maps"
	"strings"

	"ethos/pkg/record"
)

// Events of Codex CLI have Claude's frame and turn_id (codex-rs/hooks). Its shell reports itself as
// Bash; older and newer shells have other names.

func codexDialect() dialect {
	tools := claudeTools()
	run := shell("workdir", "command", "cmd")
	maps.Copy(tools, map[string]decoder{
		"Bash": run, "shell": run, "local_shell": run, "exec_command": run, "unified_exec": run, "shell_command": run,
		"apply_patch": patch("command", "input", "patch"),
		"view_image":  file("read", []string{"path"}),
		"read_file":   file("read", []string{"file_path", "path"}),
		"list_dir":    look("list", []string{"dir_path", "path"}, ""),
		"grep_files":  look("read", []string{"path"}, ""),
	})
	return dialect{
		ends:  "SessionEnd",
		reply: codexReplier(), call: claudeCall, tools: tools, before: []string{"PreToolUse", "PermissionRequest"},
		after: []string{"PostToolUse"},
		others: []string{
			"SessionStart", "SubagentStart", "SubagentStop", "UserPromptSubmit", "PreCompact",
			"PostCompact", "Stop", "StopFailure", "Interrupt",
		},
		// exec_command can start a terminal; it reports itself as Bash and does not mention this.
		// write_stdin then types into the terminal and has no event (observed in 0.169.0). The
		// older shells close their standard input.
		typed: func(tool string) bool { return tool != "shell" && tool != "local_shell" && tool != "shell_command" },
		is:    func(d record.Document) bool { return d.Get("turn_id").Exists() && isText(d.Get("hook_event_name")) },
	}
}

// patch reads the files that a patch in Codex's format changes. The text may also be the last word
// of an argument vector.
func patch(keys ...string) decoder {
	return func(c call) (record.Action, error) {
		v, key, err := c.first(keys)
		if err != nil {
			return record.Action{}, err
		}
		if list := v.Array(); v.IsArray() && len(list) > 0 {
			v = list[len(list)-1]
		}
		body, err := text(v, key)
		if err != nil {
			return record.Action{}, err
		}
		files, err := patchFiles(body)
		if err != nil {
			return record.Action{}, err
		}
		return fileAction(files, key)
	}
}

// patchFiles reads "*** Add File: p", "*** Update File: p" with "*** Move to: q", and "*** Delete File: p"
// (codex-rs/apply-patch, apply_patch_tool_instructions.md).
func patchFiles(body string) ([]record.FileAction, error) {
	if !strings.Contains(body, "*** Begin Patch") {
		return nil, fmt.Errorf("the patch has no line *** Begin Patch")
	}
	var files []record.FileAction
	var content strings.Builder
	finish := func() {
		if n := len(files); n > 0 && files[n-1].Op != "delete" {
			describe(&files[n-1], content.String())
		}
		content.Reset()
	}
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		op, name := patchHeader(line)
		switch {
		case op == "":
			if added, ok := strings.CutPrefix(line, "+"); ok {
				content.WriteString(added + "\n")
			}
		case name == "" || strings.ContainsRune(name, 0):
			return nil, fmt.Errorf("the patch has a header without a file: %q", line)
		case op == "move" && len(files) > 0:
			files[len(files)-1].Op, files[len(files)-1].Target = op, name
		case op == "move":
			return nil, fmt.Errorf("the patch moves a file before it names one")
		default:
			finish()
			files = append(files, record.FileAction{Op: op, Path: name})
		}
	}
	finish()
	return files, nil
}

func patchHeader(line string) (op, name string) {
	for header, op := range map[string]string{"*** Add File:": "write", "*** Update File:": "edit", "*** Delete File:": "delete", "*** Move to:": "move"} {
		if name, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), header); ok {
			return op, strings.TrimSpace(name)
		}
	}
	return "", ""
}

// Codex accepts Claude's format, but strictly: if a reply has an unknown key or an unknown
// decision, Codex runs the call as if there were no hook. It knows deny, and allow only together
// with updatedInput; ask becomes deny (codex-rs/hooks, PreToolUse output parser).

func codexReplier() replier {
	return replier{
		rewrite: only("PreToolUse"), status: 2,
		verdict: codexVerdict,
		failure: func(string) any { return nil },
		notice:  always, // of the keys common to all events, its parser refuses continue, stopReason and suppressOutput
		context: specificContext,
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
