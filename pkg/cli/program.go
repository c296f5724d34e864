package cli

import (
	"context"
	"errors"
	"strings"
)

// Program is one ethos program.
type Program struct {
	Name        string // ethos-x
	Under       string // the word behind the name that comes before every command of its own; "" for none
	Summary     string // one line
	Description string // paragraphs for --help and the manual page
	Kind        Kind
	Examples    []Example
	// Commands points to a kong command structure. Its commands have a method Run(ctx
	// context.Context, sys *System) error.
	Commands any
	// Quick, if set, parses time-critical command lines without the model, usually with package
	// flagfield. It returns nil to leave a command line to the model. Its result must equal the
	// model's.
	Quick func(args []string) Command
	// Values, if set, returns closed sets of values for completion: for flags without an enum under
	// "--NAME", for arguments under "<NAME>". For a [Choice] the values are its words.
	Values func() map[string][]string
	// Vars are the texts for which ${NAME} stands in help texts.
	Vars func() map[string]string
	// Failed, if set, is given the error of a command line args, also of one that cannot be parsed,
	// and returns the error to end with. A hook answers in its agent's protocol with it.
	Failed func(sys *System, args []string, err error) error
}

// Unknown returns an [UnknownFlag] if the first word is one, else nil. kong would treat that flag and
// all words after it as the command.
func (a Argv) Unknown() error {
	if len(a) > 0 && len(a[0]) > 1 && a[0][0] == '-' && a[0] != "--" {
		return UnknownFlag(a[0])
	}
	return nil
}

// UnknownFlag is a word in the place of a flag that is none. [Program.Run] adds to the hint which flag
// was probably meant.
type UnknownFlag string

func (f UnknownFlag) Error() string { return "unknown flag " + string(f) }

// Command is the parsed form of a command line.
type Command interface {
	Run(ctx context.Context, sys *System) error
}

// Example is a command line and what it shows.
type Example struct{ Command, Text string }

// Argv holds the words of a command to run, a passthrough argument. kong keeps the "--" before
// them; [Argv.Words] removes it.
type Argv []string

// Words returns the command without a leading "--".
func (a Argv) Words() []string {
	if len(a) > 0 && a[0] == "--" {
		return a[1:]
	}
	return a
}

// Kinder is implemented by a command whose exit statuses are of another kind than its program's:
// ethos-sandbox run in a program of filters.
type Kinder interface{ Kind() Kind }

// Run parses args and runs the command that they name.
func (p Program) Run(ctx context.Context, sys *System, args []string) (status Status) {
	kind := p.Kind
	defer guard(sys, &kind, &status)
	err := p.run(ctx, sys, args, &kind)
	if err == nil {
		err = sys.lost
	}
	if err != nil && errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return Interrupted
	}
	if err != nil && p.Failed != nil {
		err = p.Failed(sys, args, err)
	}
	status, message, hint := statusOf(kind, err)
	if message != "" {
		sys.Fail(message, hint)
	}
	return status
}

func (p Program) run(ctx context.Context, sys *System, args []string, kind *Kind) error {
	if asksVersion(args) {
		return sys.Print(p.version())
	}
	if c := p.quick(args); c != nil {
		*kind = kindOf(c, p.Kind)
		if err := sys.placed(*kind); err != nil {
			return err
		}
		sys.warnLost(*kind)
		endsUnread(ctx, *kind)
		return c.Run(ctx, sys)
	}
	return p.parse(ctx, sys, args, kind)
}

func asksVersion(args []string) bool { return len(args) == 1 && args[0] == "--version" }

func (p Program) quick(args []string) Command {
	if p.Quick == nil {
		return nil
	}
	return p.Quick(args)
}

// kindOf returns the kind that a command declares, else otherwise.
func kindOf(command any, otherwise Kind) Kind {
	if k, ok := command.(Kinder); ok {
		return k.Kind()
	}
	return otherwise
}

func (p Program) called() string { return strings.TrimSpace(p.Name + " " + p.Under) }
