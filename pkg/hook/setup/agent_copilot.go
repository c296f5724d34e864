package setup

func copilotFiles() []file {
	// "Disable all hooks" in https://docs.github.com/copilot/reference/hooks-reference; its command line also reads the settings of Claude Code.
	off := &switches{
		user:    []string{"../config.json", "../settings.json"},
		project: []string{".claude/settings.json", ".claude/settings.local.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json"},
		values:  []toggle{{path: []string{"disableAllHooks"}, off: true}},
	}
	return []file{{name: "ethos.json", example: "copilot/ethos.json", off: off, format: ownFormat{copilotText}}}
}

// copilotText returns a file of ethos's own, because Copilot CLI reads a reply only at exit status
// 0.
func copilotText(o Options) ([]byte, error) {
	command := o.ask("copilot") + ` || echo '{"permissionDecision":"deny","permissionDecisionReason":"ethos gave no answer: the call is blocked"}'; cat >/dev/null`
	return indented(object{{"version", 1}, {"hooks", object{{"preToolUse", []any{object{{"type", "command"}, {"bash", command}, {"timeoutSec", 60}}}}}}}, "", "  ")
}
