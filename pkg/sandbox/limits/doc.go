// Package limits bounds what a command may use where no cgroup can be had: resource limits of the kernel, getrlimit(2),
// and a sampled watch over the memory of a process tree. It also reads the sizes, durations and percentages in which
// people state limits ([ParseSize], [ParseDuration], [ParsePercent]).
//
// [Rlimits] is pure and returns the table that the confined process sets on itself with prlimit64(2); [Watch.Run] is
// run outside, beside the command.
//
// # Contract
//
// A resource limit is only ever lowered: one that is already lower stays. CPU time has a soft limit below the hard
// one, so that SIGXCPU comes before SIGKILL. No core file is ever written.
//
// # Limits
//
// This is the weaker layer. A resource limit is one process's: RLIMIT_DATA does not add up over a tree, and
// RLIMIT_CPU starts anew in every child. RLIMIT_NPROC counts the processes of a user in a user namespace (Linux
// 5.14; before, of the user on the whole machine), so it must be set inside the namespace; the kernel does not hold
// the machine's root to it at all, see [NprocHolds]. The watch looks at intervals: what is allocated
// between two looks is seen late, and memory that no process has mapped (a memfd or a file on tmpfs that was only
// written to, an unattached shmget(2) segment) is not seen at all; bound those by the size of the tmpfs and by FileBytes.
package limits
