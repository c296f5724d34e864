// Ethos-git is git under policy.
//
//	ethos-git push origin topic                     as git does it
//	ethos-git push --force origin main              refused with status 125; nothing has happened
//	ethos-git ethos explain -- push --force         what policy would do, and why
//
// Its arguments are git's own. If policy allows the command, the process replaces itself with the
// real git, so that arguments, streams, terminal, signals and exit status are git's.
//
// Built with the tag nocel, as it is released, it evaluates the shipped policies itself, and starts
// the ethos-decide in its directory where CEL is needed. Without the tag it starts ethos-decide for
// each command that is decided.
package main
