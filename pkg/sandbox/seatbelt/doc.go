// Package seatbelt writes a plan as a profile of Seatbelt, the sandbox of macOS, and reads such
// profiles. Begin with [Write], which turns a plan into the text that sandbox-exec(1) takes.
// [Parse] reads such a text, [Parsed.Decide] says what it decides about a request, and [Check]
// compares a text with the plan that it was written from.
//
// # Sources
//
// Apple does not document the language of profiles. What is used here is what public programs use:
// the policies of Chromium, the build sandboxes of Bazel and Nix, and the sandboxes of coding
// agents. A rule names operations and filters. Of the rules that match a request, the last decides.
// A path in a rule is compared with the resolved path of a file, after symbolic links.
//
// # Two readings
//
// Public sources leave open whether a rule for one operation (file-write-unlink) gives way to a
// later rule for its group (file-write*), or always goes before it. A profile is therefore written
// so that both readings decide alike, and [Check] compares both: rules for groups come first, and
// rules for single operations after them. No operation has rules with and without filters.
//
// # Limits
//
// This package has never been tried against the kernel of macOS. See docs/backends.md.
package seatbelt
