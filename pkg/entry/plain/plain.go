// Package plain is for a program that has an entry point of its own and nothing to
// do before the Go runtime starts. The program imports it.
package plain

import (
	_ "unsafe" // for go:linkname

	_ "ethos/pkg/entry" // calls before
)

//go:linkname before ethos/pkg/entry.before
func before(_, _ []string) (status int, over bool) { return 0, false }
