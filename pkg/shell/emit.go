package shell

import (
	"slices"
	"sort"
	"unicode/utf8"

	"ethos/pkg/ethosargs"
	"ethos/pkg/gitargs"
	"ethos/pkg/record"
)

// invocation is one simple command while it is converted to its canonical form.
type invocation struct {
	fields   []field
	env      []assignment
	raw      string
	wrappers []string
	noFunc   bool  // under a wrapper that only runs programs: functions and builtins do not count
	noShell  bool  // likewise for builtins that act on the shell
	dir      *dir  // the directory in which a wrapper runs it
	input    *feed // the standard input that a wrapper gives it
	opaque   bool
	code     string
	names    []string
	silent   bool // run by another command that is listed itself
	cleared  bool // it does not get the caller's environment
	typed    bool // its words are read from an input that a person types
	bounded  bool // it runs inside of ethos-sandbox
}

// assignment is NAME=VALUE in front of a command.
type assignment struct {
	name  string
	value field
}

// found is a command, in the order of the walk.
type found struct {
	record.Command
	offset  int
	stage   *stage
	cwd     string
	partial []string
	out     []string
	input   string
	ethos   *ethosargs.Call
	cleared bool
	shows   []string // the variables whose secrets it prints
	asks    bool     // it reads typed input into variables
}

// emit lists a command, unless the same one was already found at this position.
func (c *walker) emit(inv invocation, name string) {
	f := found{offset: inv.fields[0].at(0), stage: c.stage, cwd: c.cwd(inv), out: c.replaced, input: c.inputOf(inv), ethos: ethosCall(name, inv.fields), cleared: inv.cleared, asks: c.typedVariables(inv, name), shows: c.shows(inv, name)}
	f.Command = record.Command{
		Name: name, Path: inv.fields[0].text, Argv: argv(inv.fields), Raw: inv.raw,
		Wrappers: inv.allWrappers(c), Within: c.within.list(), Depth: c.depth, Background: c.background,
		Assignments: recorded(inv.env), Dynamic: name == "" && inv.fields[0].uncertainHead(), Opaque: inv.opaque, Code: inv.code, Names: inv.names,
		Interactive: c.interactive(inv, name),
	}
	if gitargs.IsGit(name) {
		f.partial = partial(inv.fields)
	}
	c.noteRisks(&f.Command)
	if !c.add(f) {
		if name != "tee" {
			c.stage.skip()
		}
		return
	}
	if f.ethos != nil {
		c.ethosFiles(inv, f.ethos)
	}
	c.stage.add(name)
	if c.kept && c.stage != nil {
		c.stage.pipe.kept[c.stage.index] = true
	}
}

func (c *walker) noteRisks(cmd *record.Command) {
	if cmd.Dynamic {
		c.risk(riskDynamicCommand)
		c.lack(lackUnresolved)
	}
	if cmd.Opaque && cmd.Code == "" {
		c.lack(lackOpaque)
	}
	if len(cmd.Assignments) > 0 {
		c.risk(riskEnvAssignment)
	}
	if len(cmd.Wrappers) > maxWrappers {
		c.risk(riskWrapperDepth)
	}
}

// add stores a command, within the limits on number and size.
func (a *analysis) add(f found) bool {
	if a.halted {
		return false
	}
	for _, i := range a.byOffset[f.offset] {
		if old := &a.commands[i]; same(old, &f) && (old.cwd == f.cwd || f.cwd == "") {
			old.cwd = f.cwd
			if len(old.shows) == 0 {
				old.shows, old.stage = f.shows, f.stage
			}
			return false
		}
	}
	a.size += 160 + len(f.Raw) + len(f.Path) + len(f.Code)
	for _, arg := range f.Argv {
		if a.size += 4; arg != nil {
			a.size += len(*arg)
		}
	}
	for _, text := range f.partial {
		a.size += len(text)
	}
	if len(a.commands) >= maxCommands || a.size > maxFacts {
		a.halt()
		return false
	}
	if a.byOffset == nil {
		a.byOffset = make(map[int][]int32, 8)
	}
	a.byOffset[f.offset] = append(a.byOffset[f.offset], int32(len(a.commands)))
	a.commands = append(a.commands, f)
	return true
}

// same reports whether two commands at one position differ only in how the walk reached them, such
// as two calls of a function, or the two rounds of a loop.
func same(a, b *found) bool {
	return a.Name == b.Name && a.Path == b.Path && a.sameCall(b) && a.Opaque == b.Opaque && a.Interactive == b.Interactive && a.Background == b.Background &&
		slices.Equal(a.Wrappers, b.Wrappers) &&
		slices.EqualFunc(a.Argv, b.Argv, sameValue) && slices.Equal(a.partial, b.partial) &&
		slices.EqualFunc(a.Assignments, b.Assignments, func(x, y record.Assignment) bool { return x.Name == y.Name && sameValue(x.Value, y.Value) })
}

// sameCall reports whether both calls of a program of ethos get the same input and environment.
func (a *found) sameCall(b *found) bool {
	if a.ethos == nil {
		return true
	}
	return a.input == b.input && a.cleared == b.cleared && (a.stage == nil && b.stage == nil || a.stage != nil && b.stage != nil && a.stage.pipe == b.stage.pipe)
}

func sameValue(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// uncertainHead reports whether a word cannot be taken as the name of a command.
func (f field) uncertainHead() bool { return !f.named() && (!f.static() || f.glob || f.many) }

func argv(fields []field) []*string {
	out := make([]*string, len(fields))
	for i := range fields {
		if !fields[i].many {
			out[i] = fields[i].value()
		}
	}
	return out
}

// partial returns the texts of the words that argv leaves out, "" for one that may expand to
// several words.
func partial(fields []field) (texts []string) {
	for i, word := range argv(fields) {
		switch f := &fields[i]; {
		case word != nil:
		case f.many || f.glob || f.sub != nil || !utf8.ValidString(f.text):
			texts = append(texts, "")
		default:
			texts = append(texts, f.text)
		}
	}
	return texts
}

func recorded(env []assignment) []record.Assignment {
	out := make([]record.Assignment, len(env))
	for i := range env {
		out[i] = record.Assignment{Name: env[i].name, Value: env[i].value.value()}
	}
	return out
}

func (inv *invocation) allWrappers(c *walker) []string {
	if len(c.via)+len(inv.wrappers) == 0 {
		return []string{}
	}
	return append(c.via[:len(c.via):len(c.via)], inv.wrappers...)
}

// piped returns a list of names, as long as the size limit for such lists permits.
func (a *analysis) piped(names []string, left *int) []string {
	for _, name := range names {
		*left -= len(name) + 3
	}
	if *left < 0 {
		a.lack(lackSize)
		return []string{}
	}
	return names
}

func (a *analysis) result() Analysis {
	out := Analysis{Cwds: make([]string, 0, len(a.commands))}
	out.Shell = record.Shell{
		IR: IR, Parsed: a.parsed, Error: a.errText, Unfinished: a.unfinished, Risks: a.risks.codes(), Commands: make([]record.Command, 0, len(a.commands)),
		Unresolved: a.lacks&lackUnresolved != 0, DepthExceeded: a.lacks&lackDepth != 0,
	}
	sort.SliceStable(a.commands, func(i, j int) bool { return a.commands[i].offset < a.commands[j].offset })
	left := maxPiped
	for i := range a.commands {
		f := &a.commands[i]
		f.Line, f.Column = a.place(f.offset)
		f.PipedFrom, f.PipedTo = a.piped(f.stage.upstream(), &left), a.piped(f.stage.downstream(), &left)
		f.Interactive = f.Interactive && !(traitOf(f.Name, traitPager) && len(f.PipedTo) > 0) || f.asks && a.lacks&(lackUnresolved|lackOpaque) != 0
		out.Shell.Commands = append(out.Shell.Commands, f.Command)
		out.Cwds, out.Partial = append(out.Cwds, f.cwd), append(out.Partial, f.partial)
		out.Replaced = append(out.Replaced, f.out)
		if len(f.shows) > 0 && f.shown() {
			out.Shown = append(out.Shown, Shown{i, f.shows})
		}
	}
	out.Ethos = a.ethosCalls(&out.Shell)
	out.Shell.Reads, out.Reads = paths(a.reads)
	out.Shell.Writes, out.Writes = paths(a.writes)
	out.Incomplete = a.lacks.codes()
	return out
}
