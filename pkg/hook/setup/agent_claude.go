package setup

func claudeFiles() []file {
	// disableAllHooks and env: https://code.claude.com/docs/en/settings, in which each later file counts before the earlier ones.
	off := &switches{
		user: []string{"settings.json"}, project: []string{".claude/settings.json", ".claude/settings.local.json"},
		values: []toggle{{path: []string{"disableAllHooks"}, off: true}}, env: []string{"env"},
	}
	return []file{{name: "settings.json", example: "claude-code/settings.json", off: off, format: jsonFormat{hooks: claudeHooks, off: off}}}
}

func claudeHooks(o Options) []hooked {
	entry := func(command string) object { return object{{"type", "command"}, {"command", command}, {"timeout", 60}} }
	list := []hooked{{path: []string{"hooks", "PreToolUse"}, value: object{{"matcher", "*"}, {"hooks", []any{entry(o.hook("claude"))}}}, gate: true}}
	if o.Failed && o.Confine != "no" {
		list = append(list, hooked{path: []string{"hooks", "PostToolUseFailure"}, value: object{{"matcher", "Bash"}, {"hooks", []any{entry(o.tell("claude"))}}}})
	}
	if o.Confine != "no" { // a command that does not run in a boundary proves nothing
		for _, event := range turnEvents {
			list = append(list, hooked{path: []string{"hooks", event}, value: object{{"hooks", []any{entry(o.turn("claude"))}}}})
		}
	}
	return ended(o, list, object{{"hooks", []any{entry(o.end("claude"))}}})
}
