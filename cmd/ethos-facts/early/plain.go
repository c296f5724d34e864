// Package early has a session do what
//
//	ethos-facts --from AGENT
//	ethos-facts --mode MODE --from records
//
// does for an agent's hook and for ethos-sandbox shell, before the Go runtime
// starts. If no session runs, the program does it itself. See
// docs/decisions/0062-a-command-server.md.
//
// The package works as it is imported, so only this program imports it.
package early

import "ethos/pkg/session/dial"

const program = "ethos-facts"

// Plain reports whether a command line, with the program's own name, is one of
// these. Their input is short: one event, or one record.
func Plain(args []string) bool {
	switch {
	case len(args) == 3 && args[1] == "--from":
		return dial.Operand(args[2]) && args[2] != "lines" && args[2] != "records"
	case len(args) == 5 && args[1] == "--mode" && args[3] == "--from":
		return dial.Operand(args[2]) && args[4] == "records"
	}
	return false
}
