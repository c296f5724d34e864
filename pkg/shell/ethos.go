package shell

import (
	"slices"
	"strings"

	"ethos/pkg/ethosargs"
	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// EthosCall is a call of one of ethos's own programs, with what decides what
// it may do beside its options.
type EthosCall struct {
	Args    ethosargs.Call
	Command record.Command
	Cwd     string   // "" when unknown
	Input   string   // where its standard input comes from
	Before  []Feeder // the commands whose output reaches it, first to last
	// Cleared says that the caller's environment does not reach it: env -i.
	Cleared bool
	// Hidden says that commands write into its pipeline that are not in Before:
	// the body of a function that is called twice, a process substitution.
	Hidden bool
}

// Feeder is a command in a pipeline before another one.
type Feeder struct {
	Command record.Command
	Input   string
	Args    *ethosargs.Call // of a program of ethos
}

// Where a command's standard input comes from.
const (
	InputInherited = "inherited" // the caller's
	InputPipe      = "pipe"
	InputOther     = "redirect" // a file, a document, a substitution
)

// inputOf says where a command's standard input comes from.
func (c *walker) inputOf(inv invocation) string {
	switch in := c.feedOf(inv); {
	case in.kind == feedPipe:
		return InputPipe
	case in.kind == feedNone && inv.input == nil:
		return InputInherited
	}
	return InputOther
}

// ethosCall reads the command line of one of ethos's own programs, nil for
// another one. A git may be a link to ethos-git.
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

// ethosGit reports git's arguments that are ethos's, or may be: a first word
// that is not known, before the name of a command that only a person gives.
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

// optionOf is the "--name=" that a word begins with whose value is not known. No
// other part of a word is trusted that is not known in full.
func optionOf(f field) string {
	at := strings.IndexAny(f.text, "$`{*?[<")
	if eq := strings.IndexByte(f.text, '='); eq > 2 && at > eq && strings.HasPrefix(f.text, "--") {
		return f.text[:eq+1]
	}
	return ""
}

// ethosEnvironment is the variables that decide over ethos's own programs and
// that the script sets before, exported or not: one that the environment has
// already is exported by its assignment.
func (c *walker) ethosEnvironment(given []assignment) (out []assignment) {
	seen := map[string]bool{}
	for _, a := range given {
		seen[a.name] = true
	}
	for at := c.scope; at != nil; at = at.parent {
		for name, v := range at.vars {
			if ethosargs.Steers(name) && !seen[name] {
				seen[name] = true
				out = append(out, assignment{name: name, value: v.only()})
			}
		}
	}
	slices.SortFunc(out, func(a, b assignment) int { return strings.Compare(a.name, b.name) })
	return out
}

// ethosFiles notes the files that options of ethos's own programs write.
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

// ethosCalls puts the calls together once all commands are known and in order.
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

// maxEthos bounds the calls of ethos's own programs in one script.
const maxEthos = 64

// feeds reports that what runs in a stage writes into the pipeline before
// another stage, at any level that both stand in.
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
