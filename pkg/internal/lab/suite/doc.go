// Package suite holds the limits of ethos-sandbox to what they promise, on a kernel where cgroup v2 has every controller: attacks on memory, processes, processor time and
// the wall clock, each with its allowed twin, and what happens where no cgroup is to be had.
//
// It is a test program for guests of the kernel lab, with the build tag lab, and drives the program ethos-sandbox that is on PATH. TestHeld… are for places where a cgroup can be had,
// TestLack… for places where not.
package suite
