package early

import _ "unsafe" // for go:linkname

// prefork is steps.Prefork. An import would have all that package steps needs
// initialised before the request of a program that has no entry point of its own.
//
//go:linkname prefork ethos/pkg/sandbox/kernel/steps.Prefork
func prefork(args []string)
