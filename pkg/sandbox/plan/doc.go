// Package plan makes the plan of a run: what one command is confined to, as data.
//
// [Build] turns a [Spec] into a [Plan]: paths are resolved, their rules become the
// access table, the table becomes mounts, and the environment and the limits are
// computed. It reads the file system through [Files] and changes nothing, so a
// test can give it one of its own.
//
// # Limits
//
// A plan is true for the file system that was read. Whoever carries it out opens
// no symbolic link and verifies what came of it.
package plan
