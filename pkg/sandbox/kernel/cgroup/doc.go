// Package cgroup runs a command in its own control group (v2), which limits the
// memory, processor time and number of processes of everything that the command
// starts: cgroups(7), kernel Documentation/admin-guide/cgroup-v2.rst.
//
// Begin with [Discover], which finds a cgroup that the caller may divide
// ([Delegation]). [Delegation.NewLeaf] creates the cgroup of one run. Its
// descriptor is passed to clone3(2) with CLONE_INTO_CGROUP, so that the command
// is never outside of it. [Delegation.NewTree] creates that of a session, in
// which each command has a leaf.
//
// # Contract
//
// Discover tries, in this order, the caller's own cgroup (or its parent, if
// that belongs to the caller), a transient scope of the user's systemd manager
// (for root, the machine's) and, for root, the top of the hierarchy. It writes
// nothing before it has seen that the place exists, belongs to the caller and
// has every needed controller. If there is no such place, it returns an
// [*Unavailable], which names each place and what it lacks.
//
// A leaf has all requested limits, or there is no leaf: each limit is written
// and read back. No limit is applied in part.
//
// # Limits
//
// Cgroup v1 is not supported, nor a hybrid tree with the controllers on v1;
// Discover says so. If the caller is killed by SIGKILL, the leaf's processes
// die with it (because their init does), but only the next run can remove the
// empty directory; below a systemd scope, systemd removes it at once.
//
// # Kernel versions
//
// CLONE_INTO_CGROUP needs Linux 5.7. Without cgroup.kill (5.14), [Leaf.Kill]
// freezes the leaf (cgroup.freeze, 5.2) and kills one process after another.
// Without memory.peak (5.19) and pids.peak (6.1), [Usage.Unknown] names them;
// the limits are the same.
package cgroup
