// Package gitargs reads git command lines the way git will: global options, aliases, abbreviated and clustered
// options, refspecs, pathspecs and configuration given on the command line or in the environment.
//
// [Read] returns everything that is known of one command; [Parse] returns the part of it that goes into a record.
//
//	r := gitargs.Read(argv, gitargs.Context{Repo: repo.Record, Config: repo.Config, Refs: refs})
//	r.Git.Dangers // hook_bypass force_push …
//	r.Runs        // code that git would run in turn: "!" aliases, bisect run, rebase --exec …
//
// It is pure: no file is opened and nothing is executed, so the same words give the same answer everywhere. What the
// answer depends on comes in by the [Context]; what is missing there is said in [Reading.Incomplete], never assumed.
//
// The grammar is that of git 2.39 with the options added up to 2.51. Where versions differ the reading is the union:
// an abbreviation that is ambiguous in one version counts as each option it could stand for. A danger is a fact about
// the words, not a verdict: policy decides.
package gitargs
