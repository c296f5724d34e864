// Package landlock prepares the Landlock ruleset of a confined process:
// landlock(7), kernel Documentation/userspace-api/landlock.rst.
//
// [Probe] asks for the kernel's ABI. Begin with [Build], which is pure: it
// turns a [Request] into the [Ruleset] that the ABI supports and a [Report] of
// what was left out. [Ruleset.Steps] returns the ruleset as prepared system
// calls for a child in another mount namespace; [Ruleset.Create] creates it in
// this process.
//
// # Contract
//
// Every handled right is denied unless a rule grants it. A right that the ABI
// does not know is listed in [Report.Missing] and never silently ignored; the
// caller decides whether the run may continue without it. There is one ruleset
// per process, because two stacked ones deny moving files between directories
// (ABI 1) or must both permit it (later). Rules only grant; a path that is
// denied below a granted one must be protected by the mount table.
//
// # Limits
//
// No ABI known here restricts stat, chmod, chown, utime, xattr, access times,
// chdir, or reading through descriptors that were opened before. TCP rights do
// not cover MPTCP and SMC sockets; UDP is covered from ABI 10. Abstract Unix
// sockets and signals are covered from ABI 6, and connecting to pathname
// sockets from ABI 9. With an older ABI, the mount table and the PID namespace
// must restrict them.
package landlock
