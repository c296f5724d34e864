// Package suite tests the limits of ethos-sandbox on a kernel where cgroup v2 has every controller:
// attacks on memory, processes, processor time and the wall clock, each with its allowed twin, and
// the behaviour if no cgroup is available.
//
// It is a test program for guests of the kernel lab, with the build tag lab, and runs the
// ethos-sandbox on PATH. TestHeld… are for guests in which a cgroup is available, TestLack… for the
// others.
package suite
