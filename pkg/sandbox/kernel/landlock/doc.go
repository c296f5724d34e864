// Package landlock prepares the Landlock ruleset of a confined process: landlock(7), kernel Documentation/userspace-api/landlock.rst.
//
// [Probe] asks which ABI the kernel speaks; [Build] is pure and turns what is asked ([Request]) into what that ABI can
// hold ([Ruleset]) and says what was left out ([Report]). [Ruleset.Steps] is the ruleset as prepared kernel calls for a
// child that lives in another mount namespace; [Ruleset.Create] makes it in this process.
//
// # Contract
//
// Everything that is handled is denied unless a rule grants it. A right that the ABI does not know is in
// [Report.Missing], never passed over in silence: the caller decides whether the run may go on without. One ruleset is
// made for a process, because two stacked ones forbid to move files between directories (ABI 1) or must both agree
// (later). Rules grant, they cannot take away: a path denied below a granted one has to be held by the mount table.
//
// # Limits
//
// Not held by any ABI known here: stat, chmod, chown, utime, xattr and access times, chdir, and reading through
// descriptors that were opened before. TCP rights do not hold MPTCP and SMC sockets, UDP only from ABI 10.
// Abstract Unix sockets and signals are held from ABI 6, connecting to pathname sockets from ABI 9; below that, the mount
// table and the PID namespace hold them.
package landlock
