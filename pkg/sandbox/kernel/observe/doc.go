// Package observe records the paths and addresses that a confined process tree
// asks for, with seccomp user notification: seccomp_unotify(2).
//
// [Calls] are the system calls that take paths, for the filter that notifies.
// The process that answers the filter's listener passes each call to
// [Observer.See] and then lets the kernel execute it,
// SECCOMP_USER_NOTIF_FLAG_CONTINUE. Begin with [New]. When the tree has ended,
// [Observer.Needs] returns what was not available inside.
//
// # Contract
//
// Nothing is decided here. What is read of a call may differ from what the
// kernel executes, because another thread may change the memory, the working
// directory or the tree meanwhile. The result is therefore good only for
// reports to people; other mechanisms confine the command. No call is executed
// on the command's behalf: a path is looked up below the command's root with
// O_PATH, without magic links. Memory is bounded, whatever the command asks
// for.
//
// # Limits
//
// A signal that arrives before a call is received interrupts the call. If its
// handler lacks SA_RESTART, the call returns EINTR, which open(2) of a regular
// file otherwise never does. A process that may not be traced (PR_SET_DUMPABLE)
// is not read. A call that another filter denies does not arrive here, because
// a denial is stricter than a notification. Paths that are looked up through a
// descriptor other than a directory are not seen.
package observe
