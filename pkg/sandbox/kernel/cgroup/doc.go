// Package cgroup runs a command in a control group (v2) of its own, which bounds the memory, processor time and number
// of processes of everything the command starts: cgroups(7), kernel Documentation/admin-guide/cgroup-v2.rst.
//
// [Discover] finds a place that the caller may divide ([Delegation]); [Delegation.NewLeaf] makes the group for one run,
// whose descriptor goes to clone3(2) as CLONE_INTO_CGROUP, so that the command is never outside of it.
//
// # Contract
//
// Discover looks, in this order, at the caller's own cgroup (or its parent, when that is the caller's), at a transient
// scope of the user's systemd manager (root's is the machine's), and for root at the top of the hierarchy. It writes nothing before it has seen
// that the place is there, is the caller's, and has every controller that is needed. What it finds out when there is
// none is an [*Unavailable], which names each place and its lack.
//
// A leaf has the limits that were asked or there is no leaf: each is written, and read back. Nothing of a limit is
// applied in part.
//
// # Limits
//
// Cgroup v1 is not supported, nor a hybrid tree that has the controllers on v1: Discover says so. When the caller is
// killed by SIGKILL the leaf's processes die with it (their init does), but the empty directory can only be removed by
// the next run; below a systemd scope systemd removes it at once.
package cgroup
