// Package gitsettings decides which settings of git that a confined command made
// are taken over into the configuration of the person's repository.
//
//	s := gitsettings.New(before, about) // the text that the command begins with
//	c := s.Compare(made, now)           // what it made of it; what stands outside now
//	write(c.Text); s.Done(c)            // c.Text is nil where nothing is to be written
//
// The command works on a copy. Of the copy no byte is taken over, only keys and
// values: those that an allow-list names (rules.go), each checked and then written
// anew into the text that stands outside, in the one way that git reads them
// ([gitrepo.EditConfig]). So it does not matter whether git would read the copy in
// another way than this package.
//
// # Contract
//
// What is taken over starts no program, names no file, leads to no other
// configuration, and changes neither where a remote of the person's leads nor who
// the author is. What somebody has changed outside meanwhile stays as it is there.
// All else is refused with the reason, and nothing is left out silently.
//
// # Limits
//
// Which branch is pushed where, of the remotes that there are, is the command's to
// set: that is what git push -u and git branch --set-upstream-to do.
package gitsettings
