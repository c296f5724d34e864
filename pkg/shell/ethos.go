package shell

import (
	"strings"

	"ethos/pkg/ethosargs"
	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// EthosCall is a call of one of ethos's own programs, with the context that decides, besides its
// options, what it may do.
type EthosCall struct {
	Args    ethosargs.Call
	Command record.Command
	Cwd     string   // "" if unknown
	Input   string   // the source of its standard input
	Before  []Feeder // the commands whose output it reads, first to last
	// Cleared says that it does not get the caller's environment: env -i.
	Cleared bool
	// Hidden says that commands write into its pipeline that are not in Before: the body of a
	// function that is called twice, or a process substitution.
	Hidden bool
}

// Feeder is a command that precedes another one in a pipeline.
type Feeder struct {
	Command record.Command
	Input   string
	Args    *ethosargs.Call // for a program of ethos
}

// The sources of a command's standard input.
const (
	InputInherited = "inherited" // the caller's
	InputPipe      = "pipe"
	InputOther     = "redirect" // a file, a here-document, a substitution
)

// inputOf returns the source of a command's standard input.
func (c *walker) inputOf(inv invocation) string {
	switch in := c.feedOf(inv); {
	case in.kind == feedPipe:
		return InputPipe
	case in.kind == feedNone && inv.input == nil:
		return InputInherited
	}
	return InputOther
}

// ethosCall parses the command line of one of ethos's own programs. It returns nil for another
// program. git may be a link to ethos-git.
func ethosCall(name string, fields []field) *ethosargs.Call {
	args := fields[1:]
	if gitargs.IsGit(name) {
		if !ethosGit(args) {
			return nil
		}
		name, args = "ethos-git", args[1:]
	}
	p, ok := ethosargs.Find(name)
	if !ok {
		return nil
	}
	call := ethosargs.Read(p, ethosWords(args))
	return &call
}

// ethosGit reports whether arguments of git are, or may be, ones that ethos handles. They may be if
// the first word is unknown and the second is trust, a command that only a person gives.
func ethosGit(args []field) bool {
	if len(args) == 0 {
		return false
	}
	if args[0].static() && !args[0].many {
		return args[0].text == "ethos"
	}
	return len(args) > 1 && args[1].text == "trust"
}

func ethosWords(fields []field) []ethosargs.Word {
	words := make([]ethosargs.Word, len(fields))
	for i, f := range fields {
		words[i] = ethosargs.Word{Text: f.text, Known: !f.dyn && !f.glob && !f.many, Many: f.many || f.glob}
		if !words[i].Known {
			words[i].Text = optionOf(f)
		}
	}
	return words
}

// optionOf returns the "--name=" at the beginning of a word whose value is not known. No other part
// of a word that is not fully known is trusted.
func optionOf(f field) string {
	at := strings.IndexAny(f.text, "$`{*?[<")
	if eq := strings.IndexByte(f.text, '='); eq > 2 && at > eq && strings.HasPrefix(f.text, "--") {
		return f.text[:eq+1]
	}
	return ""
}

// ethosEnvironment returns the variables that control ethos's own programs and that the script has
// set, exported or not: assigning to a variable that is already in the environment exports it.
func (c *walker) ethosEnvironment(given []assignment) []assignment {
	return c.scriptEnvironment(given, func(name string, _ variable) bool { return ethosargs.Steers(name) })
}

// ethosFiles records the files that options of ethos's own programs write.
func (c *walker) ethosFiles(inv invocation, call *ethosargs.Call) {
	args := inv.fields[1:]
	for _, g := range call.Given {
		if !g.Option.File || g.Word < 0 || g.Word >= len(args) {
			continue
		}
		f := args[g.Word].from(min(g.Offset, len(args[g.Word].text)))
		if f.text != "-" && !strings.HasPrefix(f.text, "fd:") {
			c.write(c.locate(f, c.dirOf(inv)), call.Program, opWrite)
		}
	}
}

// ethosCalls builds the calls after all commands are known and in order.
func (a *analysis) ethosCalls(shell *record.Shell) []EthosCall {
	var out []EthosCall
	for i := range a.commands {
		f := &a.commands[i]
		if f.ethos == nil {
			continue
		}
		call := EthosCall{Args: *f.ethos, Command: shell.Commands[i], Cwd: f.cwd, Input: f.input, Cleared: f.cleared, Hidden: f.stage.hidden()}
		for k := range a.commands {
			if g := &a.commands[k]; g.stage.feeds(f.stage) {
				call.Before = append(call.Before, Feeder{Command: shell.Commands[k], Input: g.input, Args: g.ethos})
			}
		}
		out = append(out, call)
		if len(out) == maxEthos {
			a.lack(lackSize)
			break
		}
	}
	return out
}

// maxEthos limits the calls of ethos's own programs in one script.
const maxEthos = 64

// feeds reports whether a stage writes into a pipeline before another stage, at any level that
// contains both.
func (s *stage) feeds(other *stage) bool {
	for ; s != nil; s = s.outer {
		for o := other; o != nil; o = o.outer {
			if o.pipe == s.pipe && s.index < o.index {
				return true
			}
		}
	}
	return false
}
