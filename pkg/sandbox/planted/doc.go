// Package planted finds what a confined command left in its writable directories for git to run outside of the sandbox, and takes it
// out of force.
//
//	look := planted.Begin(ground)   // before the command starts
//	findings := look.Hold()         // when everything it started is dead
//
// What exists when a command starts is guarded by mounts. What it makes itself cannot be: a repository of its own, with a configuration that
// names a program, is run by the next `git status` of the user there, and by one of the repository around it when the index names it
// as a submodule; an unfinished rebase has lines that the next `git rebase --continue` runs.
//
// # Contract
//
// Only what came into being or changed while the command ran is touched: the kernel sets the time of an inode's change, and nobody inside
// can set it back. A setting that runs something is left out of a new copy of its file, a hook loses its name, an exec line of a rebase is
// left out; what was there is kept beside it, under the name with ".held" behind it. No path leads out of the directories that were
// writable, whatever else runs meanwhile.
//
// # Limits
//
// It is in force when the run has ended: who uses git in such a place while the command still runs is not protected, nor after
// ethos-sandbox was killed. Directories that were beyond the search at the start are looked through only where the index leads to them.
package planted
