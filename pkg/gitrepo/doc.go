// Package gitrepo looks at a git repository without running git: where it is, what is checked out, what its
// configuration says.
//
//	repo, err := gitrepo.Open(dir, gitrepo.FromEnviron(os.Getenv))
//	repo.Record         // the facts for a record
//	repo.Config.All("remote.origin.push")
//	refs, err := repo.Refs()
//
// It executes nothing and trusts nothing it reads: no hook, filter, pager, fsmonitor or credential helper can be
// reached from here, every file is opened only when it is a regular file, is read up to a bound, and directories are
// not followed through symbolic links. What git would read and this package cannot (a reftable, a file over the bound,
// a syntax error) is an error that names the file, never a silent gap.
//
// Limits: reftable repositories are recognised but their refs are not read. Whose repository it is, and safe.directory, are looked at for [Options.Caller] only.
package gitrepo
