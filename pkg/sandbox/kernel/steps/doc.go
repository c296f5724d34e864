// Package steps starts a confined process without starting a second program.
//
// There are two usual ways to start a process in its own namespaces: to start a
// helper program inside them, or to do the work between fork and exec. The
// first makes a Go program pay for its start twice, so this package uses the
// second. Everything that can be computed or allocated is prepared beforehand,
// in ordinary Go: a [Program] consists of arrays of prepared system calls
// ([Step]). Begin with [Start], which clones once. The child interprets the
// first array and clones the command, which interprets the second and ends in
// execve; the child remains as the init of its PID namespace. [Process.Next]
// reports what happens inside.
//
// # Contract
//
// The child allocates nothing, takes no lock, grows no stack and calls nothing
// in the Go runtime: it is a copy of one thread of a multi-threaded process, as
// in syscall.forkExec of the standard library. The first step that fails ends
// it. The parent learns the index of the step and the errno as numbers, so
// errors are never distinguished by their text.
//
// Init is PID 1 of the namespace. It reaps orphans and passes on signals from
// outside the namespace. It ends, with everything in the namespace, when the
// command has ended, when the process that started it has died, or when the
// thread that started it has. In the latter two cases it runs the cleanup steps
// first.
//
// # Sessions
//
// With [Program.Spawns], the command's process does not call execve once it is
// confined. For each [Process.Spawn] it clones a process that inherits its
// confinement, interprets the calls of an [Image] and ends in execve.
//
// # Preforking
//
// [Prefork] clones an init before the Go runtime starts, and [Start] passes the
// calls to it if it fits: docs/decisions/0063-init-before-the-runtime.md.
//
// # Launchers
//
// With [Program.Launcher], another program makes the namespaces and executes
// this program in them, which receives the calls and goes on: [AsksInside],
// [Inside].
//
// # Limits
//
// Linux only. [Start] and the methods of [Process], except [Process.Signal] and
// [Process.Kill], must be called from one goroutine. [Start] locks it to its
// thread until [Process.Wait], because prctl(2) PR_SET_PDEATHSIG refers to the
// death of the parent's thread; that of a preforked init is the first thread,
// which lives as long as the process. Linux 5.9 is needed for close_range(2), 5.7 for
// a cgroup (clone3(2), CLONE_INTO_CGROUP).
package steps
