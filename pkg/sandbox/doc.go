// Package sandbox confines one command.
//
// Two calls are the core: [Build] makes a [Plan] from a [Spec], and [Run] carries it out. A
// plan is pure data; [Plan.Text] prints it for people, and it can be encoded as JSON.
// Making a plan only reads. Carrying it out needs no privilege and starts nothing but the
// command and its init.
//
// # Embedding
//
// A program that starts commands with package os/exec confines them with [New] and
// [Sandbox.Wrap], or [Sandbox.Run]. Begin reading there.
//
// # Contract
//
// Nothing runs unconfined because something failed. If a requested control is not in force,
// the run ends with a [*Refusal] before the command's first instruction. Whatever the
// evidence states to be in force was read back from the kernel by this process while the
// command waited, or is a system call that returned success.
//
// # Limits
//
// The user, the kernel and the processes outside are trusted; a kernel bug is not
// contained. It needs Linux 5.13 or newer. On other systems everything compiles, and Run
// returns a Refusal.
package sandbox
