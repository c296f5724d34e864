package facts

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/ethosargs"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// ethos returns the facts of calls of ethos's own programs, compared with what is effective for the
// action.
func (w *work) ethos(actor record.Actor, have record.Capabilities) ([]record.Ethos, error) {
	if len(w.calls) == 0 {
		return nil, nil
	}
	l, err := w.limit(actor, have)
	if err != nil {
		return nil, err
	}
	out := make([]record.Ethos, len(w.calls))
	for i := range w.calls {
		c := &w.calls[i]
		out[i] = record.Ethos{
			Program: c.Args.Program, Command: c.Args.Name(), PipedFrom: c.Command.PipedFrom,
			Unknown: append([]string{}, c.Args.Unknown...), Widens: []record.Widening{},
		}
		if !c.Args.Shows() {
			out[i].Widens = append(out[i].Widens, l.widens(c)...)
		}
	}
	return out, nil
}

// limit is what a call is compared with.
type limit struct {
	*work
	actor  record.Actor
	mode   string
	parent *record.Parent
	space  capability.Space
	// in holds what the action may use, and what any command of an agent may use. A value within
	// one of them widens nothing.
	in []record.Capabilities
}

func (w *work) limit(actor record.Actor, have record.Capabilities) (*limit, error) {
	r := w.request(actor)
	r.Agent = true
	plain, err := capability.Effective(w.config.Repository, r)
	return &limit{work: w, actor: actor, mode: actor.Bounded().Mode, parent: actor.Parent, space: r.Space, in: []record.Capabilities{have, plain}}, err
}

// widens lists the options by which a call would widen what is effective.
func (l *limit) widens(c *shell.EthosCall) (out []record.Widening) {
	add := func(by, option, value string) {
		out = append(out, record.Widening{By: by, Option: option, Value: value})
	}
	if c.Args.Command != nil && c.Args.Command.Person {
		add(record.WidensByCommand, c.Args.Name(), "")
	}
	for _, g := range c.Args.Given {
		if l.wider(c, g) {
			add(record.WidensByOption, g.Option.Name, g.Value)
		}
	}
	if at := c.Args.Rest + 1; at > 0 && at < len(c.Command.Argv) && c.Command.Argv[at] != nil && !slices.ContainsFunc(c.Command.Argv[:at], ends) { // not an option of this program
		if name := widening(*c.Command.Argv[at]); name != "" {
			add(record.WidensByOption, name, "")
		}
	}
	for _, a := range c.Command.Assignments {
		if ethosargs.Steers(a.Name) {
			add(record.WidensByEnvironment, a.Name, valueOf(a))
		}
	}
	if c.Cleared {
		add(record.WidensByEnvironment, "env -i", "")
	}
	if !l.clean(c) {
		add(record.WidensByInput, c.Args.Name(), strings.Join(c.Command.PipedFrom, " | "))
	}
	if profile := l.implied(c); profile != "" && l.profile(profile) {
		add(record.WidensByOption, "profile", profile)
	}
	if bounded(c) && c.Cwd != "" && l.elsewhere(c.Cwd) {
		add(record.WidensByDirectory, "cwd", c.Cwd)
	}
	return out
}

// ends reports whether a word is "--", which ends the options.
func ends(word *string) bool { return word != nil && *word == "--" }

// widening returns the name of an option that widens in another program of ethos, such as --grant
// of ethos-facts passed to ethos-sandbox. It returns "" for any other word.
func widening(word string) string {
	name, option := strings.CutPrefix(word, "--")
	if name, _, _ = strings.Cut(name, "="); !option {
		return ""
	}
	if name == "grant" || name == "approve" {
		return name
	}
	for flag, narrows := range capability.Flags() {
		if flag == name && !narrows {
			return name
		}
	}
	return ""
}

func valueOf(a record.Assignment) string {
	if a.Value == nil {
		return ""
	}
	return *a.Value
}

// bounded reports whether a call makes a boundary around its own directory.
func bounded(c *shell.EthosCall) bool {
	switch c.Args.Program + " " + c.Args.Name() {
	case "ethos-facts derive":
		from, given := c.Args.Last("from")
		return !given || from.Value == "lines"
	case "ethos-sandbox run", "ethos-sandbox shell":
		return true
	}
	return false
}

// implied returns the profile of a call that names none, if a sub-agent makes it: its parent may
// have fewer rights. In plan mode the policy pack trust decides.
func (l *limit) implied(c *shell.EthosCall) string {
	if _, given := c.Args.Last("profile"); given || !bounded(c) || l.parent == nil || l.mode == record.ModePlan {
		return ""
	}
	if c.Args.Name() == "shell" {
		return capability.AgentProfile
	}
	return capability.DefaultProfile
}

// elsewhere reports whether a directory is outside of the work space. Temporary directories do not
// count, because a boundary protects nothing in them from the command.
func (l *limit) elsewhere(dir string) bool {
	real := resolve(l.d.opt.Tree, dir, false).name
	if within(real, l.action.Workspace) {
		return false
	}
	own := within(real, l.place.home) || within(l.place.home, real) || within(l.action.Workspace, real)
	return own || !strings.HasPrefix(real, "/tmp/") && !strings.HasPrefix(real, "/var/tmp/")
}

// clean reports whether the records that a call reads come from ethos's own programs, in the same
// pipeline and without an option that widens.
func (l *limit) clean(c *shell.EthosCall) bool {
	chains := [][]string{{"ethos-facts", "ethos-decide"}}
	switch c.Args.Program + " " + c.Args.Name() {
	case "ethos-sandbox pipe":
	case "ethos-trace report":
		if _, given := c.Args.Last("no-store"); given || len(c.Args.Operands) > 0 {
			return true // nothing is stored
		}
		chains = append(chains, []string{"ethos-facts", "ethos-decide", "ethos-sandbox"})
	default:
		return true
	}
	if c.Input != shell.InputPipe || c.Hidden {
		return false
	}
	var names []string
	for i, f := range c.Before {
		if !l.passes(&f, c.Command.Path, i == 0) {
			return false
		}
		if f.Command.Name != "tee" {
			names = append(names, f.Command.Name)
		}
	}
	return slices.ContainsFunc(chains, func(chain []string) bool { return slices.Equal(chain, names) })
}

// passes reports whether a command in a pipeline of ethos writes into it only what it produces
// itself, or takes from the command before it.
func (l *limit) passes(f *shell.Feeder, beside string, first bool) bool {
	if !l.trusted(f.Command.Path, beside) || f.Input != shell.InputPipe && !first {
		return false
	}
	switch {
	case f.Command.Name == "tee":
		return !first
	case f.Args == nil || len(f.Args.Unknown) > 0:
		return false
	case f.Args.Program == "ethos-facts":
		from, given := f.Args.Last("from")
		return f.Args.Name() == "derive" && (!given || from.Known && from.Value == "lines")
	case f.Args.Program == "ethos-decide":
		_, reply := f.Args.Last("reply")
		return f.Args.Name() == "decide" && !reply
	}
	return f.Args.Program == "ethos-sandbox" && f.Args.Name() == "pipe"
}

// trusted reports whether a program is found on PATH, is installed, or lies beside the program that
// reads from it.
func (l *limit) trusted(program, beside string) bool {
	same := strings.Contains(program, "/") && strings.Contains(beside, "/") && path.Dir(program) == path.Dir(beside)
	return same || catalog.Installed(program) || slices.Contains(l.d.opt.Programs, path.Dir(program))
}
