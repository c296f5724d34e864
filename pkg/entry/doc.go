// Package entry lets a program work before the Go runtime starts, or, where the
// program has no entry point of its own, before its other packages are
// initialised. See docs/decisions/0061-a-request-before-the-runtime.md.
//
// The package works as it is imported. A program imports it by a package early
// of its own, which defines [before].
package entry
