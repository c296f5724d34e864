// Package plan is what a run of a command is to be confined to, as data: the access table, the mounts, the environment, the limits. It makes no
// system call, and it is the same on every system.
package plan
