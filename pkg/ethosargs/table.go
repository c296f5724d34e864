package ethosargs

import (
	"slices"
	"strings"

	"ethos/pkg/lazy"
)

// Class is the effect of an option on the boundary of a command. The zero value is no class: it is
// an error of the table, so that no option is left unclassified.
type Class uint8

// The classes of an option.
const (
	unclassed Class = iota
	Neutral         // has no effect on what is allowed
	Narrows         // takes something away
	Compared        // depends on its value, which is compared with what is effective
	Widens          // widens, whatever its value
	Ends            // the program only prints something
)

// Option is one option of a command.
type Option struct {
	Name  string
	Short byte // 0 if there is none
	Bool  bool // takes no value except in the form --name=false
	Class Class
	File  bool // the value is a file that the program writes
}

// Operands says what a command does with words that are not options.
type Operands uint8

// The kinds of operands.
const (
	NoOperands  Operands = iota
	Words                // files, identifiers
	Passthrough          // the first one, or "--", begins a command line to run
)

// Command is one command of a program.
type Command struct {
	Name     string // nested commands joined by a space; "" is the program itself
	Default  bool   // used if no command is named
	Operands Operands
	// Person marks a command for a person only: it changes what is trusted, approved, stored or
	// enforced from then on.
	Person bool
	// Announced marks a command that may be in the table before the program has it.
	Announced bool
	Options   []Option
}

// harmless reports whether a command only reads and shows, with whatever options.
func (c *Command) harmless() bool {
	return !slices.ContainsFunc(c.Options, func(o Option) bool { return o.Class == Widens || o.Class == Compared }) && !c.Person && !c.Default
}

// Program is one program of ethos.
type Program struct {
	Name     string
	Commands []Command
	// Described says that no word after "--" names a command of the program.
	Described bool
}

// common has the options that every program has.
var common = []Option{
	{Name: "help", Short: 'h', Bool: true, Class: Ends},
	{Name: "version", Bool: true, Class: Ends},
	{Name: "man", Bool: true, Class: Ends},
	{Name: "completion", Class: Ends},
	{Name: "schema", Bool: true, Class: Ends},
}

// Common returns the options that every program has.
func Common() []Option { return common }

// programs is built on first use, because most command lines name none of them.
var programs = lazy.Value[[]Program]{Make: func() []Program {
	return []Program{facts(), decide(), sandbox(), trace(), git(), ordered("ethos-attest"), ordered("ethos-cel"), ordered("ethos-egress"), ordered("ethos-otlp")}
}}

// Programs returns the table.
func Programs() []Program { return programs.Get() }

// Find returns the program with a name.
func Find(name string) (*Program, bool) {
	if !strings.HasPrefix(name, "ethos-") {
		return nil, false
	}
	list := programs.Get()
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

func (p *Program) command(name string) *Command {
	for i := range p.Commands {
		if p.Commands[i].Name == name {
			return &p.Commands[i]
		}
	}
	return nil
}

// otherwise returns the default command, or nil.
func (p *Program) otherwise() *Command {
	for i := range p.Commands {
		if p.Commands[i].Default {
			return &p.Commands[i]
		}
	}
	return nil
}

// leads reports whether a name is a command, or begins the name of one.
func (p *Program) leads(name string) bool {
	for i := range p.Commands {
		if c := p.Commands[i].Name; c == name || strings.HasPrefix(c, name+" ") {
			return true
		}
	}
	return false
}
