// Package gitsettings decides which git settings made by a confined command are
// copied to the configuration of the user's repository.
//
//	s := gitsettings.New(before, about) // the text that the command begins with
//	c := s.Compare(made, now)           // what it made of it; what stands outside now
//	write(c.Text); s.Done(c)            // c.Text is nil where nothing is to be written
//
// The command works on a copy. No byte is taken from the copy, only keys and
// values that an allow-list names (rules.go). Each is checked and then written
// into the text outside in the one form that git reads unambiguously
// ([gitrepo.EditConfig]). So it does not matter whether git would parse the
// copy differently from this package.
//
// # Contract
//
// An accepted setting starts no program, names no file, includes no other
// configuration, and changes neither where the user's remotes lead nor who the
// author is. Changes made outside meanwhile are kept. Everything else is
// refused with a reason, and nothing is dropped silently.
//
// # Limits
//
// The command may choose which branch is pushed to which of the existing
// remotes: that is what git push -u and git branch --set-upstream-to do.
package gitsettings
