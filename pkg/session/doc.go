// Package session keeps one boundary for several commands: a supervisor holds the
// boundary and listens on a socket, and clients have it start commands there.
//
//	dir, err := session.Open(os.Getenv)        // where the sockets lie
//	conn, err := dir.Dial("work")              // a client's connection; ErrNone: no such session runs
//	exit, err := conn.Run(command, streams)    // a command in it, with the caller's streams
//
//	lock, err := dir.Lock("work")              // a supervisor's: held for life
//	err = (&session.Server{…}).Serve(ctx, lock)
//
// # Contract
//
// The socket and its lock lie in a directory of the caller's that nobody else
// enters and no plan shows (statedir.Sockets). Both ends ask the kernel who the
// other is, unix(7) SO_PEERCRED: another user, and a process in another user
// namespace, such as one inside of a boundary, is refused. Whoever holds the lock
// owns the name; a socket without a held lock was left by a supervisor that is
// dead, and is replaced.
//
// A client that dies takes its command with it. What a command leaves in the
// background lives until the session ends, and what that prints is kept in a
// bounded log. No client can make another wait: a message has a limit of size
// and of time, and a client reads its command's output by itself.
//
// # Limits
//
// Names, messages and logs are portable. Sockets need Linux, as the boundary
// does. The package knows the boundary by the interface [Boundary] alone.
package session
