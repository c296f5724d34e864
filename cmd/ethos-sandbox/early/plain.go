// Package early requests the command of
//
//	ethos-sandbox run --session NAME -- COMMAND
//
// before the Go runtime starts, or, where the program has no entry point of its
// own, before its other packages are initialised. If the command soon ends well,
// and leaves no output to relay, that is all that this process does. Else main
// follows the command as any other: it parses the command line, takes over the
// connection, relays streams and signals.
//
// It also has the init of a run outside of any session cloned, if the runtime has
// not started: docs/decisions/0063-init-before-the-runtime.md.
//
// The package works as it is imported, so only this program imports it. See
// docs/decisions/0061-a-request-before-the-runtime.md.
package early

import "ethos/pkg/session/dial"

// Plain parses a command line, with the program's own name. ok is false unless
// it is a command in a session, without any other flag. Main reads what is
// accepted here in the same way.
func Plain(args []string) (name string, argv []string, ok bool) {
	const flag = "--session="
	if len(args) < 3 || args[1] != "run" {
		return "", nil, false
	}
	word, rest := args[2], args[3:]
	switch {
	case len(word) > len(flag) && word[:len(flag)] == flag:
		word = word[len(flag):]
	case word == flag[:len(flag)-1] && len(rest) > 0:
		word, rest = rest[0], rest[1:]
	default:
		return "", nil, false
	}
	name, ok = dial.Named(word)
	if !ok || len(rest) < 2 || rest[0] != "--" {
		return "", nil, false
	}
	return name, rest[1:], true
}
