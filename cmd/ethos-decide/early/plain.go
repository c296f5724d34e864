// Package early has a session do what
//
//	ethos-decide --reply AGENT …
//	ethos-decide --mode MODE
//
// does for an agent's hook and for ethos-sandbox shell, before the Go runtime
// starts. If no session runs, the program does it itself. See
// docs/decisions/0062-a-command-server.md.
//
// The package works as it is imported, so only this program imports it.
package early

const program = "ethos-decide"

// Plain reports whether a command line, with the program's own name, is one of
// these.
func Plain(args []string) bool {
	return len(args) >= 3 && (args[1] == "--reply" || args[1] == "--mode" && len(args) == 3)
}
