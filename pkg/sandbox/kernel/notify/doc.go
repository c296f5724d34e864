// Package notify judges the connect(2) calls of a confined process tree with
// seccomp user notification: seccomp_unotify(2).
//
// A socket file lets a command talk to the server behind it, and neither a
// network namespace nor a read-only mount prevents that: connect(2) needs only
// write permission on the file (unix_find_bsd in net/unix/af_unix.c). The
// address is in memory, where a filter cannot see it. [Filter] is the filter
// that notifies. Begin with [New]; [Judge.Start] then answers, in the process
// that supervises the command, until [Judge.Close].
//
// # Contract
//
// A call is never allowed to continue because of what was read of it: another
// thread could change the memory, the descriptor table or the directory tree in
// between. Instead the judge duplicates the socket (pidfd_getfd(2)), copies the
// address, resolves a path as the caller would, but below the caller's root and
// without magic links, and connects the duplicate to the very file that it
// judged, through /proc/self/fd. What the caller changes meanwhile has no
// effect. SECCOMP_USER_NOTIF_FLAG_CONTINUE answers only calls on which nothing
// is decided: listen(2), bind(2) and observed calls.
//
// A stream or seqpacket socket can reach
//   - a declared socket, identified by the file that was opened before the
//     command began;
//   - a socket that listens in the command's network namespace: listen(2) is
//     notified too, and SIOCUNIXFILE names the file to which the socket is
//     bound. bind(2) creates that file and binds it once, so it can never
//     become another server's;
//   - abstract names, internet addresses and so on, as the network namespace
//     allows: the socket must be of the command's own namespace, and a thread
//     with the same Landlock rules for TCP connects it.
//
// Every other socket file yields ECONNREFUSED, as if nobody listened, and a
// socket from another network namespace EACCES. A call that blocks does not
// delay others, ends when its caller is interrupted, and honours SO_SNDTIMEO.
// When the judge is gone, the kernel answers ENOSYS.
//
// # Limits
//
// Datagram sockets are resolved and connected, but not judged: sendmsg(2) names
// its destination in memory and is not notified. With [Options.Override], which
// gives the judge more rights than the command has, they are judged like the
// others: bind(2) is notified, and SIOCUNIXFILE names the file a moment later.
// sendmsg(2) then reaches what the command's own capabilities permit. A server
// inside sees as its peer (SO_PEERCRED) the user and group of the command and
// the pid of the judge, which is 0 in its namespace. At most maxListening
// sockets that listen at a path are known at a time, and at most maxPending
// calls wait. For a thread that has left the descriptor table of its process
// (unshare(2), CLONE_FILES), the process's table is used before Linux 6.9.
// Magic links are resolved if the path begins with /proc/self/cwd,
// /proc/self/root, /proc/self/fd, /proc/thread-self or /dev/fd.
package notify
