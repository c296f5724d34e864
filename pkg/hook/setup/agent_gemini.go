package setup

func geminiFiles() []file {
	// docs/reference/configuration.md in google-gemini/gemini-cli, "hooksConfig". The lists of all files are united.
	off := &switches{
		user: []string{"settings.json"}, project: []string{".gemini/settings.json"},
		values: []toggle{{path: []string{"hooksConfig", "enabled"}}},
		names:  []naming{{path: []string{"hooksConfig", "disabled"}, name: "ethos"}},
	}
	return []file{{name: "settings.json", example: "gemini/settings.json", off: off, format: jsonFormat{hooks: geminiHooks, settings: []setting{{path: []string{"hooksConfig", "enabled"}, value: true}}, off: off}}}
}

func geminiHooks(o Options) []hooked {
	entry := func(name, command string) object {
		return object{{"name", name}, {"type", "command"}, {"command", command}, {"timeout", 60000}}
	}
	list := []hooked{{path: []string{"hooks", "BeforeTool"}, value: object{{"matcher", ".*"}, {"hooks", []any{entry("ethos", o.hook("gemini"))}}}, gate: true}}
	if o.Confine != "no" {
		list = append(list, hooked{path: []string{"hooks", "AfterTool"}, value: object{{"matcher", "run_shell_command"}, {"hooks", []any{entry("ethos-after", o.tell("gemini"))}}}})
	}
	return ended(o, list, object{{"hooks", []any{entry("ethos-session", o.end("gemini"))}}})
}
