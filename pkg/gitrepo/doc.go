// Package gitrepo examines a git repository without running git: where it is, what is checked out,
// and its configuration. Begin with [Open].
//
//	repo, err := gitrepo.Open(dir, gitrepo.FromEnviron(os.Getenv))
//	repo.Record         // the facts for a record
//	repo.Config.All("remote.origin.push")
//	refs, err := repo.Refs()
//
// It executes nothing and trusts nothing that it reads: it runs no hook, filter, pager, fsmonitor
// or credential helper. It opens only regular files, reads each up to a limit, and does not follow
// directories through symbolic links. If git would read something that this package cannot (a
// reftable, a file over the limit, a syntax error), the error names the file; nothing is skipped
// silently.
//
// Limits: reftable repositories are recognised, but their refs are not read. The owner of the
// repository and safe.directory are checked only for [Options.Caller].
package gitrepo
