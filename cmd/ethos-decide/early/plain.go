// Package early has a session do what
//
//	ethos-decide --reply AGENT [--confine[=ask|=allow|=no]] [--session NAME]
//	ethos-decide --mode MODE
//
// does for an agent's hook and for ethos-sandbox shell, before the Go runtime
// starts. If no session runs, the program does it itself. See
// docs/decisions/0062-a-command-server.md.
//
// The package works as it is imported, so only this program imports it.
package early

import "ethos/pkg/session/dial"

const program = "ethos-decide"

// Plain reports whether a command line, with the program's own name, is one of
// these. No option of them names a file.
func Plain(args []string) bool {
	if len(args) < 3 || !dial.Operand(args[2]) {
		return false
	}
	if args[1] == "--mode" {
		return len(args) == 3
	}
	if args[1] != "--reply" {
		return false
	}
	for rest := args[3:]; len(rest) > 0; rest = rest[1:] {
		switch rest[0] {
		case "--confine", "--confine=ask", "--confine=allow", "--confine=no":
		case "--session":
			if rest = rest[1:]; len(rest) == 0 || !dial.Operand(rest[0]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}
