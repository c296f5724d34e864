// Package cli is how every ethos program starts and ends.
//
// A program is a value of [Program] around a kong command structure; its main function calls [Main], a test calls [Program.Run]. A program
// with a command line that is not its own, such as git's, calls [MainRaw].
//
// # Contract
//
// Arguments, environment, directory, standard streams and clock reach a command in its [System]; it reports by returning an error.
// Standard output carries records or the child's bytes only; messages go to standard error as "ethos-x: error: …" and "ethos-x: hint: …".
// The exit status follows the table in [ExitTable]. SIGINT, SIGTERM and SIGHUP cancel the command's context once; a command that
// ends because of it dies by that signal, so that a shell sees 128+n. SIGPIPE on standard output ends a program quietly.
//
// Every program has --help, --version, --man, --completion and --schema.
//
// # Limits
//
// This is the only package that imports kong, and the only one that calls os.Exit.
package cli
