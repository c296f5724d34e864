// Package limits bounds what a command may use where no cgroup can be had: resource limits of the kernel, getrlimit(2),
// and a sampled watch over the memory of a process tree.
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
// This is the weaker layer. Memory has no resource limit: RLIMIT_DATA and RLIMIT_AS count what is reserved, which in
// programs of Go, the JVM and the sanitizers of compilers is many times what they use, and do not add up over a tree.
// RLIMIT_CPU starts anew in every child. RLIMIT_NPROC counts the processes of a user in a user namespace (Linux
// 5.14; before, of the user on the whole machine), so it must be set inside the namespace; the kernel does not hold
// the machine's root to it at all, see [NprocHolds]. The watch looks at intervals: what is allocated
// between two looks is seen late. Of shared memory it counts what is mapped or what is held ([Shared]: memfds, System V
// segments, the private tmpfs), whichever is more, so up to twice the limit may be held. It does not see shared memory
// that is in no page table and no descriptor table: an anonymous shared mapping after madvise(2) MADV_DONTNEED, and a
// memfd on its way through a socket (SCM_RIGHTS).
package limits
