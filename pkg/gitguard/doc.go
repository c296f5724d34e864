// Package gitguard is what ethos-git does: it stands in git's place, lets through what policy allows by becoming the
// real git, and refuses the rest before anything has happened.
//
//	g := gitguard.Guard{Self: self, Decider: decider, Recorder: recorder, Facts: facts}
//	err := g.Run(ctx, gitguard.Call{Name: os.Args[0], Args: os.Args[1:], Dir: dir, Environ: os.Environ()})
//
// [Guard.Run] does not return when the command is allowed: the process becomes git by execve(2), with the same
// arguments byte for byte, the same environment, descriptors, terminal, signals and directory, so nothing stands
// between the caller and git. What it returns is a *[Refusal], and then nothing ran.
//
// # Contract
//
// A command that only reads, by pkg/gitargs and the repository's own configuration, and carries no danger and no
// configuration of its own, is not asked about unless the work space has policies of its own: it costs one exec and no
// other process. Every other command is decided by the Decider; an error there is a refusal. Every command is handed
// to the Recorder before it runs; a Recorder that fails is reported and stops nothing.
//
// The real git is never ethos-git itself, however it is named: see [Find].
//
// # Limits
//
// It guards those who call git by name. Another git binary, a library that reads repositories, or a hand that writes
// into .git is the sandbox's business. Git starts its own subcommands, hooks and aliases without coming back here:
// aliases are therefore resolved beforehand, and hooks run as the repository's owner set them up. A signal other than
// SIGHUP and SIGINT that the caller ignores is at its default in git, because the Go runtime does not keep it.
package gitguard
