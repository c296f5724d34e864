// Package limits restricts what a command may use if no cgroup is available:
// with resource limits, getrlimit(2), and with a sampled watch over the memory
// of a process tree.
//
// Begin with [Rlimits], which is pure and returns the table of limits that the
// confined process sets on itself with prlimit64(2), and with [Watch.Run],
// which runs outside, beside the command. [Tree.Of] chooses the processes of
// one command of several.
//
// # Contract
//
// A resource limit is only ever lowered; one that is already lower is kept,
// except for the soft limit on descriptors, see [Current]. The soft limit of
// CPU time is below the hard one, so that SIGXCPU comes before SIGKILL. No core
// file is ever written.
//
// # Limits
//
// This mechanism is weaker than a cgroup. There is no usable resource limit for
// memory: RLIMIT_DATA and RLIMIT_AS count reserved memory, which for Go, the
// JVM and compiler sanitizers is many times what they use, and they apply to
// single processes, not to the tree. RLIMIT_CPU starts at zero in every child.
// RLIMIT_NPROC counts the processes of a user in a user namespace (since Linux
// 5.14; before, on the whole machine), so it must be set inside the namespace;
// the kernel does not apply it to the machine's root at all, see [NprocHolds].
// The watch samples at intervals, so it sees allocations between two samples
// late. Of shared memory it counts the larger of what is mapped and what is
// held ([Shared]: memfds, System V segments, the private tmpfs), so a tree may
// hold up to twice the limit. It does not see shared memory that is in no page
// table and no descriptor table: an anonymous shared mapping after madvise(2)
// MADV_DONTNEED, and a memfd in transit through a socket (SCM_RIGHTS). Nor does
// it see huge pages (hugetlbfs), nor private memory in swap.
package limits
