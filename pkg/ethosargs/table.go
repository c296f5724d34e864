package ethosargs

import (
	"strings"
	"sync"
)

// Class is what an option does to the boundary that a command would have.
// There is no class for an option that nobody has thought about: the zero
// value is an error of the table.
type Class uint8

// The classes of an option.
const (
	unclassed Class = iota
	Neutral         // has no say in what may be done
	Narrows         // takes something away
	Compared        // its value decides, compared with what is effective
	Widens          // gives something, whatever its value
	Ends            // the program prints something and does nothing else
)

// Option is one option of a command.
type Option struct {
	Name  string
	Short byte // 0 when there is none
	Bool  bool // takes no value, but --name=false and the like
	Class Class
	File  bool // the value is a file that the program writes
}

// Operands says what a command does with words that are no options.
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
	Default  bool   // taken when no command is named
	Operands Operands
	// Person marks what only a person gives: it changes what is trusted,
	// approved, kept or enforced from then on.
	Person bool
	// Announced marks a command that the table may be ahead of.
	Announced bool
	Options   []Option
}

// harmless reports a command that none of its options turns into more than
// reading and showing.
func (c *Command) harmless() bool {
	for _, o := range c.Options {
		if o.Class == Widens || o.Class == Compared {
			return false
		}
	}
	return !c.Person && !c.Default
}

// Program is one program of ethos.
type Program struct {
	Name     string
	Commands []Command
	// Described says that behind "--" no word names a command of the program.
	Described bool
}

// common is what every program has.
var common = []Option{
	{Name: "help", Short: 'h', Bool: true, Class: Ends},
	{Name: "version", Bool: true, Class: Ends},
	{Name: "man", Bool: true, Class: Ends},
	{Name: "completion", Class: Ends},
	{Name: "schema", Bool: true, Class: Ends},
}

// Common returns the options that every program has.
func Common() []Option { return common }

// programs is made when it is needed: most command lines name none of them.
var programs = sync.OnceValue(func() []Program {
	return []Program{facts(), decide(), sandbox(), trace(), git(), ordered("ethos-attest"), ordered("ethos-otlp")}
})

// Programs returns the table.
func Programs() []Program { return programs() }

// Find returns the program of a name.
func Find(name string) (*Program, bool) {
	if !strings.HasPrefix(name, "ethos-") {
		return nil, false
	}
	list := programs()
	for i := range list {
		if list[i].Name == name {
			return &list[i], true
		}
	}
	return nil, false
}

// command finds a command by its full name.
func (p *Program) command(name string) *Command {
	for i := range p.Commands {
		if p.Commands[i].Name == name {
			return &p.Commands[i]
		}
	}
	return nil
}

// otherwise is the default command, nil where there is none.
func (p *Program) otherwise() *Command {
	for i := range p.Commands {
		if p.Commands[i].Default {
			return &p.Commands[i]
		}
	}
	return nil
}

// leads reports that a name is a command, or begins the name of one.
func (p *Program) leads(name string) bool {
	for i := range p.Commands {
		if c := p.Commands[i].Name; c == name || strings.HasPrefix(c, name+" ") {
			return true
		}
	}
	return false
}
