// Package sandbox confines one command.
//
// Underneath are two calls: [Build] makes a [Plan] of a [Spec], and [Run] carries it out. A plan is pure data, printed by [Plan.Text] and as JSON; making one
// only reads. Carrying it out needs no privilege and starts nothing else than the command and its init.
//
// # Embedding
//
// A program that starts commands by package os/exec confines them with [New] and [Sandbox.Wrap], or [Sandbox.Run].
//
// # Contract
//
// Nothing runs unconfined because something failed. A control that was asked for and is not in force ends the run with a [*Refusal] before the
// command's first instruction. What the evidence says is in force was read back from the kernel by this process while the command waited, or
// is a call that returned success.
//
// # Limits
//
// The user, the kernel and the processes outside are trusted; a defect of the kernel is not contained. Linux 5.13 or newer; on other systems
// everything compiles and Run returns a Refusal.
package sandbox
