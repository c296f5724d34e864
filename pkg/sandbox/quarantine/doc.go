// Package quarantine finds the files that a confined command left in its
// writable directories and that git or an agent would later run or write to
// outside of the sandbox, and moves them away.
//
//	s := quarantine.Begin(ctx, scope)   // before the command starts
//	findings := s.Finish(ctx)           // when everything it started is dead
//
// Mounts cannot prevent injected hooks and configuration if a command may
// create repositories of its own: git init, clone, submodule and worktree write
// the same files. The package therefore checks every git directory in the
// writable trees against what git itself writes there.
//
// # Contract
//
// Afterwards each git directory that did not exist at the start holds only what
// an allow-list names: files and directories with git's own names (layout.go),
// no symbolic link, no set-ID bit; settings that [gitargs.Inert] accepts; an
// index, states of an unfinished rebase, am, merge or bisect, and pointers to
// other git directories whose contents are what git writes (state.go, index.go)
// and which do not lead out of the trees, nor into a directory of ethos, where
// commands have caches and which no search enters. A new work tree leads to a git
// directory that existed at the start only if that names it. Each git directory
// that existed at the start holds that, and what it held then. Hooks and settings
// are compared by content, whatever their timestamps say, and so is what they
// lead to if they are symbolic links. Programs, includes and hooks that an
// existing setting names are compared too, if they lie in the trees: those with
// a relative path in each work tree that leads to the git directory.
//
// A git directory is what git recognises as one, under any name and at any
// depth: setup.c, is_git_directory. What cannot be read counts as a finding.
//
// A finding is moved to Kept/quarantine/TIME-PID in its tree, under the path
// that it had. It is harmless there: its names are not those that git looks
// for, and files are not executable. Of a configuration and of a rebase's todo
// list, the harmless lines stay. No path, through symbolic links either, leads
// out of the trees. A tree is the directory that it was at the start, even if
// something is renamed meanwhile.
//
// # Limits
//
// The protection takes effect when the run has ended. It does not protect
// someone who uses git in such a place while the command is still running, nor
// between the death of a killed ethos-sandbox and the next [Recover]. An
// existing hook or program may itself run files of the work tree, such as the
// scripts that a hook manager finds there; these are not checked. Nor is a
// directory that contains the link that leads to it, or with very many entries.
package quarantine
