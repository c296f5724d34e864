// Package shell reads shell text as a shell does, without running it.
//
// Begin with [Analyze], which takes a script, or [AnalyzeArgv], which takes an argument vector.
// Both return an [Analysis]: every simple command in canonical form with its position, what it
// reads and writes, risk codes, and what could not be determined.
//
// # Contract
//
// The result is a pure function of the arguments: no environment, no file system, no clock. A
// command that the script may run is listed, or [Analysis.Incomplete] says why it is not. Commands
// that may not run (a branch, a function that is never called) are listed too. Text that is only
// data (a commit message, a here-document for cat) yields no command.
//
// Quotes are removed as in bash. Static variables, arrays and positional parameters are resolved,
// and aliases and functions of the script are followed with their arguments. Wrappers such as sudo
// and xargs are removed according to a table of their own options; find, uv run and similar
// commands are listed together with the commands that they run. Code in strings (sh -c, eval, trap,
// here-documents of a shell, git aliases) is parsed again, and its positions refer to the outermost
// script.
//
// A command that a wrapper (time, sudo) runs in the same script has it in Wrappers. Code of a
// nested shell is within "sh -c", and the shell is listed itself. If a variable has several
// possible values, each of them is tried.
//
// # Risks
//
// operator: more than one command. redirect: output to a file. expansion: parameter, arithmetic or
// brace expansion. subshell: command or process substitution. cd: the directory changes.
// syntax_error: some shell text does not parse. opaque_interpreter: an interpreter gets its code
// from a pipe, a file, a here-document or a substitution, even if that code was analysed.
// wrapper_depth: more than four wrappers around one command. eval, alias, background,
// dynamic_command, env_assignment, function_shadow and path_override mean what their names say.
//
// # Limits
//
// Nesting of any kind is limited to 32, the script to 1 MiB, and the total work to a budget that
// depends only on the length of the script; each overflow is named in Incomplete. Values that exist
// only at run time (the environment, the output of a command, file names that match a glob) are not
// static: they are null in argv, and certain:false in reads and writes. A cd is assumed to succeed.
// Of a file that is sourced or run only the name is known. The dialect is bash. For sh, whichever
// shell that is, the POSIX reading is walked as well. Code for fish and csh is read as if it were
// bash, and marked as opaque.
//
// The tests compare the results with real bash and dash, and the writes with what real utilities
// change.
package shell
