// Package faultinject makes single system calls of a program fail, for tests of
// what the program does then.
//
// A [Helper] is the test binary once more, under a seccomp filter that asks a
// listener about each call: seccomp_unotify(2). What the helper starts inherits
// the filter, also over execve(2). The listener is an [Injector] in the test. It
// counts the calls of each kind and role, answers one of them with an errno, and
// lets the kernel make all others.
//
// Limits: Linux on amd64 and arm64.
package faultinject
