package setup

func geminiFiles() []file {
	return []file{{name: "settings.json", example: "gemini/settings.json", format: jsonFormat{hooks: geminiHooks, settings: []setting{{path: []string{"hooksConfig", "enabled"}, value: true}}, switched: &toggle{path: []string{"hooksConfig", "enabled"}}}}}
}

func geminiHooks(o Options) []hooked {
	entry := func(name, command string) object {
		return object{{"name", name}, {"type", "command"}, {"command", command}, {"timeout", 60000}}
	}
	list := []hooked{{[]string{"hooks", "BeforeTool"}, object{{"matcher", ".*"}, {"hooks", []any{entry("ethos", o.hook("gemini"))}}}}}
	if o.Confine != "no" {
		list = append(list, hooked{[]string{"hooks", "AfterTool"}, object{{"matcher", "run_shell_command"}, {"hooks", []any{entry("ethos-after", o.tell("gemini"))}}}})
	}
	return ended(o, list, object{{"hooks", []any{entry("ethos-session", o.end("gemini"))}}})
}
