package setup

func cursorFiles() []file {
	return []file{{name: "hooks.json", example: "cursor/hooks.json", format: jsonFormat{hooks: cursorHooks, settings: []setting{{path: []string{"version"}, value: 1, needed: true}}}}}
}

func cursorHooks(o Options) (list []hooked) {
	for _, event := range []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeTabFileRead"} {
		list = append(list, hooked{path: []string{"hooks", event}, value: object{{"command", o.hook("cursor")}, {"failClosed", true}, {"timeout", 60}}, gate: true})
	}
	return list
}
