// Package gitguard implements ethos-git, which runs in place of git. If policy allows a command,
// the process becomes the real git; otherwise the command is refused before it has had any effect.
// Begin with [Guard.Run].
//
//	g := gitguard.Guard{Self: self, Decider: decider, Recorder: recorder, Facts: facts}
//	err := g.Run(ctx, gitguard.Call{Name: os.Args[0], Args: os.Args[1:], Dir: dir, Environ: os.Environ()})
//
// [Guard.Run] does not return if the command is allowed: the process becomes git by execve(2), with
// the same arguments byte for byte, and the same environment, descriptors, terminal, signals and
// directory, so that nothing is between the caller and git. If it returns, the error is a
// *[Refusal], and nothing has run.
//
// # Contract
//
// If a command, according to pkg/gitargs and the repository's own configuration, only reads, and
// has no danger and no configuration of its own, no policy is evaluated for it, unless the work
// space has policies of its own. Such a command costs one exec and no other process. The Decider
// decides every other command; an error there is a refusal. Every command is passed to the Recorder
// before it runs. If the Recorder fails, that is reported, but does not stop the command.
//
// The real git is never ethos-git itself, under whatever name: see [Find].
//
// # Limits
//
// The package guards callers that run git by name. Another git binary, a library that reads
// repositories, or a program that writes to .git is confined by the sandbox. Git starts its own
// subcommands, hooks and aliases without ethos-git. Aliases are therefore resolved beforehand, and
// hooks run as the repository's owner has set them up. A signal other than SIGHUP and SIGINT that
// the caller ignores has its default action in git, because the Go runtime resets it.
package gitguard
