// Package session keeps one boundary alive for several commands. A supervisor holds the boundary
// and listens on a socket; clients ask it to start commands inside.
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
// The socket and its lock lie in a directory of the caller's that nobody else can enter and no plan
// exposes (statedir.Sockets). Both ends ask the kernel for the peer's identity, unix(7)
// SO_PEERCRED. They refuse another user, and a process in another user namespace, such as one
// inside a boundary. The holder of the lock owns the name. A socket whose lock nobody holds was
// left by a dead supervisor, and is replaced.
//
// When a client dies, its command ends. Background processes of a command live until the session
// ends; their output is kept in a log of limited size. No client can make another one wait:
// messages are limited in size and time, and each client reads its command's output itself.
//
// # Limits
//
// Names, messages and logs are portable. Sockets need Linux, as the boundary does. The package uses
// the boundary only through the interface [Boundary].
package session
