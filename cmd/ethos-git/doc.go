// Ethos-git is git under policy.
//
//	ethos-git push origin topic                     as git does it
//	ethos-git push --force origin main              refused with status 125; nothing has happened
//	ethos-git ethos explain -- push --force         what policy would do, and why
//
// Its arguments are git's own. If policy allows the command, the process replaces itself with the
// real git, so that arguments, streams, terminal, signals and exit status are git's. The decision
// is made by ethos-decide, which must be in the same directory as ethos-git.
package main
