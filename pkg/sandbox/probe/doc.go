// Package probe finds out what this machine can enforce, by trying it.
//
// [Run] confines a process of this same program with the default profile and lets it try what it may and what it must not; the report goes by
// what happened, not by what a call returned. The process runs [Inside].
//
// # Limits
//
// It says what holds at this moment for this user. The program that calls Run must be a file that can be executed and must call Inside when it is started with
// the arguments of [Spec].
package probe
