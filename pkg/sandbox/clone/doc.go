// Package clone manages workspaces that are separate git repositories, each on a branch of its own.
//
//	c, err := clone.Create(os.Getenv, clone.Source{Name: "a", Origin: "/w", Branch: "a", Base: "…"})
//	c.Dir                              // an empty directory: the caller clones into it
//	changes, err := c.Changes(ctx)     // what is different there from Base
//	work, err := c.Unmerged()          // what removing it would lose
//
// The directory is ${XDG_DATA_HOME:-~/.local/share}/ethos/workspaces/NAME. A command of another
// workspace cannot see it, because home directories are hidden. The records of clones are in the
// state folder (package statedir), which no command can see.
//
// Untrusted commands write to the directory, including its git directory. This package therefore
// never starts git; it reads with package gitrepo. Whoever transfers content from there to another
// repository must check it.
package clone
