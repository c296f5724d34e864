// Package clone keeps work spaces that are git repositories of their own, each on
// a branch of its own.
//
//	c, err := clone.Create(os.Getenv, clone.Source{Name: "a", Origin: "/w", Branch: "a", Base: "…"})
//	c.Dir                              // an empty directory: who calls clones into it
//	changes, err := c.Changes(ctx)     // what is different there from Base
//	work, err := c.Unmerged()          // what removing it would lose
//
// The directory is ${XDG_DATA_HOME:-~/.local/share}/ethos/workspaces/NAME: a command
// of another work space does not see it, because home directories are hidden. What is
// known of it is kept in the state folder (package statedir), which no command sees.
//
// Commands that nobody trusts write to the directory, its git directory included. So
// nothing here starts git: package gitrepo reads. What is brought from there into
// another repository must be checked by who does it.
package clone
