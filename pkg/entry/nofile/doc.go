// Package nofile keeps the Go runtime from opening files while it starts.
//
// The runtime looks for a limit of processor time in the files of the process's
// cgroup, for which it reads the whole mount table, and for the size of a huge page
// (runtime/cgroup_linux.go, runtime/os_linux.go). This takes up to a tenth of the
// start of a small program, and no variable turns it off. The runtime does without
// the answers where it cannot open the files. So a program lowers its own limit of
// open files before the runtime starts, and the package restores it before package
// syscall is initialised. See docs/decisions/0068-a-start-without-files.md.
package nofile
