// Package steps starts a confined process without a second program start.
//
// A caller that wants a process in namespaces of its own has two usual ways: start a helper program inside them, or do the work
// between fork and exec. A Go program that takes the first pays for its own start twice; this package takes the second. Everything that can be computed or
// allocated is, beforehand, in ordinary Go: the outcome is a [Program], two arrays of prepared kernel calls ([Step]). [Start] clones once; the child
// interprets the first array, clones the command, which interprets the second and ends in execve, and stays as the init of its
// PID namespace. [Process.Next] tells what happens inside.
//
// # Contract
//
// The child allocates nothing, takes no lock, grows no stack and calls nothing of the Go runtime: it is a copy of one thread of a process with many, as in
// syscall.forkExec of the standard library. The first step that fails ends it; the parent learns the index of the step and the errno, as numbers, so
// nothing is ever told apart by its text.
//
// Init is PID 1 of the namespace: it reaps what is orphaned, passes on the signals that come from outside the namespace, and ends with everything
// in it when the command has ended, when the process that started it has died, or when the thread that started it has; in the latter cases it
// runs the cleanup steps first.
//
// # Sessions
//
// With [Program.Spawns] the command's process, when it is confined, does not
// exec. It clones a process for each [Process.Spawn], which inherits all that
// confines it, interprets the calls of an [Image] and execs.
//
// # Limits
//
// Linux only. [Start] and the methods of [Process] but [Process.Signal] and [Process.Kill] belong to one goroutine, which [Start] ties to its thread
// (prctl(2), PR_SET_PDEATHSIG: the death of the parent means the death of that thread) until [Process.Wait].
package steps
