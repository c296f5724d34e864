package shell

const (
	maxScript    = 1 << 20   // bytes of a script
	maxDepth     = 32        // nesting of constructs, substitutions and code parsed again
	maxFrames    = 4000      // call frames the parser may use
	maxCommands  = 2000      // commands listed
	maxUses      = 4000      // reads and writes listed, each
	maxFacts     = 400 << 10 // bytes of text in commands, reads and writes: a record line holds 1 MiB
	maxRaw       = 1 << 10   // bytes of Command.Raw
	maxValue     = 64 << 10  // bytes of one static value
	maxCopies    = 4 << 20   // bytes of the files that a script writes, each time that they are kept or used
	maxRedirects = 16        // redirections of a statement whose output is followed into a file
	maxFields    = 1 << 12   // words one word may expand to
	maxBraceWork = 1 << 18   // characters examined to expand the braces of one word
	maxAlts      = 16        // known values of a variable; combinations tried for one command
	maxRounds    = 64        // walks of the body of a for loop, enclosing loops included
	maxPiped     = 64 << 10  // bytes of all such names
	maxNames     = 64        // names in PipedFrom and PipedTo
)

// The budget of one analysis, in units of work: a fixed part for every script, so that its loops
// and calls can be followed, and a part for each byte.
const (
	workFixed   = 4 << 20
	workPerByte = 24
)

const (
	costStatement = 64 // units of work
	costReparse   = 16 // units for a byte of code parsed again
	costNode      = 16 // units for a node that the look-ahead visits
)

// spend takes n units from the budget and reports whether any is left.
func (a *analysis) spend(n int) bool {
	if a.work -= n; a.work < 0 && !a.halted {
		a.halt()
	}
	return !a.halted
}

// halt ends the walk. The rest of the script stays unseen, and the facts say so.
func (a *analysis) halt() {
	a.halted = true
	a.lack(lackSize)
}
