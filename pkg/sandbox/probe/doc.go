// Package probe finds out what this machine can enforce by trying it.
//
// [Run] confines a process of this same program with the default profile, and lets it try what it
// may do and what it must not. The report is based on what happened, not on what a call returned.
// The process runs [Inside].
//
// # Limits
//
// The result holds for this user at this moment. The program that calls Run must be an executable
// file, and must call Inside if it is started with the arguments of [Spec].
package probe
