package sandbox

import "slices"

// hideSocket hides a socket that is there when the run begins: a server of the host listens on it, and neither a network namespace nor a read-only mount keeps anybody from
// connecting to it; unix(7), connect needs the right to write to the file alone. One that is asked for is left.
func (b *builder) hideSocket(path string) {
	declared := func(r rule) bool { return r.path == path }
	if !slices.ContainsFunc(b.declared, declared) {
		b.rules = append(b.rules, rule{place{path: path, exists: true}, denyRead, "a socket of the host"})
	}
}
