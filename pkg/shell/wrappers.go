package shell

// maxWrappers is the highest ordinary number of wrappers around one command: sudo env timeout nice.
const maxWrappers = 4

// wrapKind says where in a wrapper's words the command is that it runs.
type wrapKind uint8

const (
	wrapPlain    wrapKind = iota // after the options, and skip operands
	wrapAssign                   // after the options, and any NAME=VALUE
	wrapBuiltin                  // as plain, but in the same shell
	wrapShell                    // as plain; without a command it starts a shell
	wrapSu                       // -c CODE, and a user
	wrapString                   // operands joined are code for a shell
	wrapFlock                    // FILE COMMAND…, FILE -c CODE, or FD
	wrapXargs                    // COMMAND, and words from standard input
	wrapFind                     // -exec COMMAND ;
	wrapParallel                 // COMMAND ::: ARGUMENTS
	wrapScript                   // -c CODE
	wrapArch                     // [ARCH] COMMAND
	wrapNetns                    // netns exec NAME COMMAND
	wrapCarrier                  // SUBCOMMAND COMMAND…: uv run pytest
	wrapDirect                   // as carrier, but without a subcommand: npx tsc
	wrapAfter                    // the command follows one of the options in query
	wrapOption                   // the argument of one of the options in query is code for a shell
	wrapTerminal                 // SUBCOMMAND, and operands that are code for a shell: pm2
	wrapTmux                     // commands of tmux
	wrapMaven                    // settings that name a program and its arguments: mvn exec:exec
	wrapInput                    // standard input is code for a shell: at
	wrapSandbox                  // run COMMAND, or shell -c CODE
)

// wrapper is a program that runs the command it is given.
type wrapper struct {
	name string
	kind wrapKind
	skip int // operands before the command
	grammar
	chdir     string // options whose value is the directory in which the command runs
	elsewhere bool   // the command runs in an unknown directory, below another root
	output    string // options whose value is a file that the wrapper writes
	query     string // words separated by spaces: options with which no command is run; for some kinds the words before it
	below     string // of wrapCarrier: words before a subcommand: perf sched record
}

// findWrapper returns the entry of a name, or nil.
func findWrapper(name string) *wrapper {
	return lookup(wrappers[:], name, func(w *wrapper) string { return w.name })
}
