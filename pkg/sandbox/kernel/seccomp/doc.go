// Package seccomp compiles a list of rules about system calls into the BPF
// program that the kernel runs on each call.
//
// Two steps are needed: get a [Profile] from [DenyPrivilege] or [ParseOCI], and
// call [Profile.Compile], which returns the [Program] for one architecture. A
// program is plain data for seccomp(SECCOMP_SET_MODE_FILTER), see seccomp(2).
// Nothing in this package has to run in the filtered process.
//
// # Contract
//
// Every program begins in the same way, whatever the profile says. A call of an
// architecture other than the program's (int 0x80 and 32-bit programs on amd64,
// AArch32 on arm64) kills the process with SIGSYS, and so does an x32 call:
// their numbers have another meaning, and a rule would judge the wrong call. A
// number above the newest call known to this package is answered ENOSYS, as
// from a kernel without the call, so that a call added to the kernel after the
// rules were written does not bypass them.
//
// If several rules match a call, the strictest action is taken, in the kernel's
// order (see [Action]); the order of rules in a profile decides only between
// errno values. An argument is compared in the width in which the kernel reads
// it: socket(2) takes int, so the kernel and the rule both ignore bits above
// 31. Comparing 64 bits there is a known way to bypass filters (CVE-2019-7303,
// CVE-2019-10063).
//
// # Limits
//
// A filter sees registers, but no memory: no paths, no socket addresses, no
// struct clone_args. Consequences:
//   - clone3(2) is answered ENOSYS, and callers fall back to clone(2), whose
//     flags are in a register;
//   - a filter cannot tell which socket file an AF_UNIX connect(2) reaches.
//     Pathname sockets are controlled by the mount table (what is not mounted
//     has no name) and by a listener ([Notify], package notify); Landlock
//     controls abstract ones from ABI 6 (LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
//     and pathname ones only from ABI 9 (LANDLOCK_ACCESS_FS_RESOLVE_UNIX);
//   - io_uring performs calls that no filter sees, so io_uring_setup(2) and
//     related calls are answered ENOSYS.
//
// Killed calls appear in the audit log (type SECCOMP). Calls answered with an
// errno appear there only if the filter is installed with [FlagLog]. Programs
// make some such calls all the time, so the flag is for examining a single run.
//
// Programs can be stacked: the kernel runs all of them and takes the strictest
// answer, so a second profile can only restrict further.
//
// # Kernel versions
//
// seccomp(2) exists since Linux 3.17, and without a tracer that could change a
// checked call since 4.8. [KillProcess] and [FlagLog] came with 4.14. [Notify]
// and [FlagNewListener] need 5.0. On later ones only the speed differs: 5.11
// keeps the answers that depend on the number alone.
package seccomp
