package setup

func claudeFiles() []file {
	return []file{{name: "settings.json", example: "claude-code/settings.json", local: "settings.local.json", format: jsonFormat{hooks: claudeHooks, switched: &toggle{path: []string{"disableAllHooks"}, off: true}}}}
}

func claudeHooks(o Options) []hooked {
	entry := func(command string) object { return object{{"type", "command"}, {"command", command}, {"timeout", 60}} }
	list := []hooked{{[]string{"hooks", "PreToolUse"}, object{{"matcher", "*"}, {"hooks", []any{entry(o.hook("claude"))}}}}}
	if o.Failed && o.Confine != "no" {
		list = append(list, hooked{[]string{"hooks", "PostToolUseFailure"}, object{{"matcher", "Bash"}, {"hooks", []any{entry(o.tell("claude"))}}}})
	}
	if o.Confine != "no" { // a command that does not run in a boundary proves nothing
		for _, event := range turnEvents {
			list = append(list, hooked{[]string{"hooks", event}, object{{"hooks", []any{entry(o.turn("claude"))}}}})
		}
	}
	return ended(o, list, object{{"hooks", []any{entry(o.end("claude"))}}})
}
