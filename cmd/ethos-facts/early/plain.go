// Package early has a session do what
//
//	ethos-facts --from AGENT
//
// does for an agent's hook, before the Go runtime starts. If no session runs,
// the program does it itself. See docs/decisions/0062-a-command-server.md.
//
// The package works as it is imported, so only this program imports it.
package early

const program = "ethos-facts"

// Plain reports whether a command line, with the program's own name, is that of
// a hook: the events of an agent, and no other flag.
func Plain(args []string) bool {
	return len(args) == 3 && args[1] == "--from" && args[2] != "lines" && args[2] != "records"
}
