// Package gitargs reads git command lines as git does: global options, aliases, abbreviated and
// clustered options, refspecs, pathspecs, and configuration given on the command line or in the
// environment.
//
// Begin with [Read], which returns everything that is known about one command.
//
//	r := gitargs.Read(argv, gitargs.Context{Repo: repo.Record, Config: repo.Config, Refs: refs})
//	r.Git.Dangers // hook_bypass force_push …
//	r.Runs        // code that git would run in turn: "!" aliases, bisect run, rebase --exec …
//
// The package is pure: it opens no file and executes nothing, so the same words always give the
// same result. What else the result depends on is in the [Context]. What is missing there is named
// in [Reading.Incomplete], and never assumed.
//
// The grammar is that of git 2.39 with the options added up to 2.51. If versions differ, the
// reading is the union: an abbreviation that is ambiguous in one version counts as each option that
// it may stand for. A danger is a fact about the words, not a verdict, which is left to policy.
package gitargs
