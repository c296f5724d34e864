package setup

func copilotFiles() []file {
	return []file{{name: "ethos.json", example: "copilot/ethos.json", format: ownFormat{copilotText}}}
}

// copilotText returns a file of ethos's own, because Copilot CLI reads a reply only at exit status
// 0.
func copilotText(o Options) ([]byte, error) {
	command := o.ask("copilot") + ` || echo '{"permissionDecision":"deny","permissionDecisionReason":"ethos gave no answer: the call is blocked"}'; cat >/dev/null`
	return indented(object{{"version", 1}, {"hooks", object{{"preToolUse", []any{object{{"type", "command"}, {"bash", command}, {"timeoutSec", 60}}}}}}}, "", "  ")
}
