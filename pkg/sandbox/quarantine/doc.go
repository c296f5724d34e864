// Package quarantine finds what a confined command left in its writable
// directories for git, or for an agent, to run or to write to outside of the
// sandbox, and puts it aside.
//
//	s := quarantine.Begin(ctx, scope)   // before the command starts
//	findings := s.Finish(ctx)           // when everything it started is dead
//
// Injected hooks and configuration cannot be prevented by mounts where a command
// may make repositories of its own: git init, clone, submodule and worktree write
// the same files. So every git directory in the writable trees is judged, by what
// git itself puts there.
//
// # Contract
//
// Afterwards each git directory that was not there at the start holds what an
// allow-list names, and nothing else: files and directories of git's own names
// (layout.go), no link, no set-ID bit; settings that [gitargs.Inert] knows; an
// index, states of an unfinished rebase, am, merge or bisect, and pointers to
// other git directories that say what git writes there (state.go, index.go), and
// lead nowhere out of the trees. Each that was there at the start holds that, and
// what it held then: hooks and settings are compared by their text, whatever
// their times say. Programs, includes and hooks that such a setting names are
// compared too, where they lie in the trees.
//
// A git directory is what git takes for one, under any name and at any depth:
// setup.c, is_git_directory. What cannot be read counts as found.
//
// What is found is moved to Kept/quarantine/TIME-PID in its tree, under the path
// that it had, and can do nothing there: names are not those that git looks for,
// and files cannot be executed. Of a configuration and of the list of a rebase
// the rest stays. No path leads out of the trees, by links neither, and a tree is
// the directory that it was at the start, whatever else is renamed meanwhile.
//
// # Limits
//
// It is in force when the run has ended: who uses git in such a place while the
// command still runs is not protected, nor between the end of an ethos-sandbox that
// was killed and the next [Recover]. What a
// hook or program that was there runs in turn, such as the scripts that a
// manager of hooks finds in the work tree, is the work tree's.
package quarantine
