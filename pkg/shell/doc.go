// Package shell reads shell text the way a shell will, without running it.
//
// [Analyze] takes a script and [AnalyzeArgv] an argument vector; both return an [Analysis]: every simple command in
// canonical form with the place where it stands, what it reads and writes, risk codes, and what could not be known.
//
// # Contract
//
// The result is a pure function of the arguments: no environment, no file system, no clock. A command that the script
// may run is listed, or [Analysis.Incomplete] says why it is not; commands that may not run (a branch, a function nobody
// calls) are listed too. Text that is only data (a commit message, a here-document for cat) yields no command.
//
// Quotes are removed as bash does, static variables, arrays and positional parameters resolved, aliases and functions of
// the script followed with their arguments. Wrappers such as sudo and xargs are taken off by a table of their own
// options; find, uv run and the like are listed and so is what they run. Code in strings (sh -c, eval, trap,
// here-documents of a shell, git aliases) is read again with its positions mapped to the outermost script.
//
// A command that a wrapper of the script's own kind (time, sudo) runs carries it in Wrappers; code of a nested shell is
// within "sh -c", and the shell is listed itself. A value with several possible values is tried with each of them.
//
// # Risks
//
// operator: more than one command. redirect: output to a file. expansion: parameter, arithmetic or brace expansion.
// subshell: command or process substitution. cd: the directory changes. syntax_error: some shell text does not parse.
// opaque_interpreter: an interpreter is fed its code by a pipe, a file, a document or a substitution, also where that
// code was read. eval, alias, background, dynamic_command, env_assignment, function_shadow, path_override speak for
// themselves; wrapper_depth is more than four wrappers around one command.
//
// # Limits
//
// Nesting of any kind is bounded by 32, the script by 1 MiB, total work by a budget that grows with the script alone;
// each overflow is named in Incomplete. Values that only exist at run time (the environment, the output of a command,
// file names behind a glob) are not static: null in argv, certain:false in reads and writes. A cd is taken to succeed.
// Of a file that is sourced or run nothing is known but its name. The dialect is bash; for sh, whichever shell that is,
// the POSIX reading is walked as well, and code for fish and csh is read as if it were ours and called opaque.
//
// The tests hold this against real bash and dash, and the writes against what real utilities change.
package shell
