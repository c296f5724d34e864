// Package plan makes the plan of a run: the confinement of one command, as data.
//
// Begin with [Build], which turns a [Spec] into a [Plan]. It resolves the paths, combines
// their rules into the access table, derives the mounts from the table, and computes the
// environment and the limits. It reads the file system through [Files] and changes nothing,
// so a test can provide its own.
//
// # Limits
//
// A plan describes the file system as it was when it was read. Whoever carries the plan out
// must open no symbolic links and verify the result.
package plan
