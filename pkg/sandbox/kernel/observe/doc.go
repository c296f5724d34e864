// Package observe sees what a confined process tree asks of paths and addresses,
// by seccomp user notification: seccomp_unotify(2).
//
// [Calls] are the system calls that take names, for the filter that notifies; the
// process that answers the filter's listener hands each to [Observer.See] and then
// has the kernel carry it out, SECCOMP_USER_NOTIF_FLAG_CONTINUE. When the tree has
// ended [Observer.Needs] has what was not to be had inside.
//
// # Contract
//
// Nothing is decided here. What is read of a call can be another thing when the
// kernel carries it out: another thread may change the memory, the working
// directory or the tree meanwhile. So it is good for telling a person, and for
// nothing else; what holds the command is other mechanism's. No call is carried out
// on the command's behalf: a name is looked up below the command's root with
// O_PATH, without magic links. Memory is bounded, whatever the command asks for.
//
// # Limits
//
// A signal that comes before a call is received interrupts it: one whose handler
// has not SA_RESTART makes it EINTR, which open(2) of a file never is otherwise.
// A process that may not be traced (PR_SET_DUMPABLE) is not read. A call that
// another filter refuses does not come here, because a refusal is stricter than a
// notification. Of paths that are looked up through a descriptor that is no
// directory nothing is seen.
package observe
