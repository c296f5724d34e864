// Package notify judges the connect(2) calls of a confined process tree, by seccomp user notification: seccomp_unotify(2).
//
// A socket file lets a command talk to whoever listens on it, and neither a network namespace nor a read-only mount keeps anybody from connecting: connect(2) asks for
// the right to write to the file alone (unix_find_bsd in net/unix/af_unix.c). The address is in memory, so a filter cannot judge it. [Filter] is the filter that asks;
// [Start] answers, in the process that supervises the command, until [Judge.Close].
//
// # Contract
//
// A call is never let through on what was read of it: another thread could change the memory, the descriptor table or the directory tree in between. The judge takes a
// duplicate of the socket (pidfd_getfd(2)), copies the address, resolves a path as the caller would but below the caller's root and without magic links, and connects the
// duplicate to the very file that it judged, through /proc/self/fd. What the caller changes meanwhile changes nothing. SECCOMP_USER_NOTIF_FLAG_CONTINUE answers listen(2)
// alone, which decides nothing.
//
// A stream or seqpacket socket reaches
//   - a declared socket, by the file that was open before the command began;
//   - a socket that listens in the network namespace of the command: listen(2) is notified too, and SIOCUNIXFILE names the file that the socket itself is bound to. A file is
//     bound once, when bind(2) makes it, so it can never come to be another server's;
//   - whatever has an abstract name, an address of the internet and so on, as its network namespace allows: the socket must be of the command's own namespace, and a
//     thread that is held to the same Landlock rules for TCP connects it.
//
// Every other socket file is ECONNREFUSED, as one that nobody listens at is, and a socket from another network namespace EACCES. A call that blocks does not keep others waiting, ends when its caller is interrupted, and honours SO_SNDTIMEO. When the judge is gone the kernel
// answers ENOSYS.
//
// # Limits
//
// Datagram sockets are resolved and connected, not judged: sendmsg(2) names its destination in memory, and nothing asks about it. With [Options.Override], which is more than
// the command has, they are judged as the others: bind(2) is notified, and SIOCUNIXFILE names the file a moment later. What sendmsg(2) reaches is then what the command's own
// capabilities open. A server inside sees as its peer
// (SO_PEERCRED) the user and group of the command and the pid of the judge, which is 0 in its namespace. At most [maxListening] sockets that listen at a path are known at a
// time, and at most [maxPending] calls wait. A thread that left the descriptor table of its process (unshare(2), CLONE_FILES) is answered about its process's before
// Linux 6.9. Magic links count where the path begins with one of /proc/self/cwd, /proc/self/root, /proc/self/fd, /proc/thread-self or /dev/fd.
package notify
