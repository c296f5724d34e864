// Package seccomp turns a list of rules about system calls into the BPF program that the kernel runs on each of them.
//
// Two calls are needed: a [Profile], from [DenyPrivilege] or [ParseOCI], and [Profile.Compile], which returns the
// [Program] for one architecture. A program is plain data, ready for seccomp(SECCOMP_SET_MODE_FILTER), see
// seccomp(2); nothing of this package has to run in the process that is filtered.
//
// # Contract
//
// Every program begins the same way, whatever the profile says. A call of another architecture than the program's
// (int 0x80 and 32-bit programs on amd64, AArch32 on arm64) ends the process with SIGSYS, and so does an x32 call:
// their numbers mean something else and a rule would judge the wrong call. A number above the newest call this
// package knows is answered ENOSYS, as a kernel without that call would, so that a call invented after the rules
// were written is not a way around them.
//
// When several rules match a call the strictest action is taken, in the kernel's order (see [Action]); the order of
// rules in a profile decides only between errno values. An argument is compared in the width in which the kernel
// reads it: socket(2) takes int, so bits above 31 are ignored by the kernel and by the rule alike. Comparing 64 bits
// there is a known way past filters (CVE-2019-7303, CVE-2019-10063).
//
// # Limits
//
// A filter sees registers, never memory: not paths, not socket addresses, not struct clone_args. What follows from it:
//   - clone3(2) is answered ENOSYS, and callers fall back to clone(2), whose flags are in a register;
//   - which socket file an AF_UNIX connect(2) reaches cannot be judged here. Pathname sockets are held by the mount
//     table (what is not mounted has no name) and by a listener that is asked ([Notify], package notify); Landlock holds abstract ones from ABI 6 (LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
//     and pathname ones only from ABI 9 (LANDLOCK_ACCESS_FS_RESOLVE_UNIX);
//   - io_uring performs calls that no filter sees, so io_uring_setup(2) and its companions are answered ENOSYS.
//
// What is killed stands in the audit log (type SECCOMP). What is answered with an errno does when the filter is installed
// with [FlagLog]; programs make some such calls all the time, so that is for looking into one run.
//
// Programs may be stacked: the kernel runs all and takes the strictest answer, so a second profile only narrows.
package seccomp
