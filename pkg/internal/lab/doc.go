// Package lab boots small Linux guests and runs test programs in them, to test the boundary on
// kernels and with features that this machine lacks: other Landlock versions, cgroup v2 with
// controllers, no user namespaces.
//
// [Fetch] finds a kernel. [Machine.Run] boots it under QEMU's own emulation (TCG, no KVM) with an
// initial RAM file system of static programs, and returns as a [Tally] what the guest's init, the
// program in guest/, printed. The tests of this package are the lanes; make test-lab runs them.
//
// # Contract
//
// A guest proves that it ran: it prints one result line for each case that it was sent, and a last
// line with their number. A boot that hangs, panics, loses a case or ends without that line is an
// error, never a pass. The output of a case is checked as well: each test in the sources of its
// program, and each attack, must have passed by name.
//
// # Limits
//
// It needs Debian's qemu-system-x86, busybox-static and, for compressed modules, xz-utils. Kernels
// are kept outside the repository, in the user's cache directory.
package lab
