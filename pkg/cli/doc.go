// Package cli is the common start and end of every ethos program: command line, help, messages,
// signals and exit status.
//
// A program is a value of [Program] around a kong command structure. Its main function calls
// [Main]; a test calls [Program.Run]. A program whose command line is defined elsewhere, such as
// git's, calls [MainRaw].
//
// # Contract
//
// A command receives arguments, environment, directory, standard streams and clock in its [System],
// and reports by returning an error. Standard output carries only records or the child's bytes;
// messages go to standard error as "ethos-x: error: …" and "ethos-x: hint: …". The exit status
// follows the table in [ExitTable]. The first SIGINT, SIGTERM or SIGHUP cancels the command's
// context. A command that ends because of it dies by that signal, so that a shell sees 128+n.
// SIGPIPE on standard output ends a program silently.
//
// Every program has --help, --version, --man, --completion and --schema.
//
// # Limits
//
// This is the only package that imports kong, and the only one that calls os.Exit.
package cli
