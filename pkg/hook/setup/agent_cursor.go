package setup

func cursorFiles() []file {
	return []file{{name: "hooks.json", example: "cursor/hooks.json", format: jsonFormat{hooks: cursorHooks, settings: []setting{{path: []string{"version"}, value: 1}}}}}
}

func cursorHooks(o Options) (list []hooked) {
	for _, event := range []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "beforeTabFileRead"} {
		list = append(list, hooked{[]string{"hooks", event}, object{{"command", o.hook("cursor")}, {"failClosed", true}, {"timeout", 60}}})
	}
	return list
}
