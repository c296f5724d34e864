// Package argstest compares the table and the reader of package ethosargs with the real command
// line of a program.
//
// [Table] fails for an option without a class, [Agree] reads a command line with both and compares,
// [Random] and [Fuzz] do the same for random ones. The tests of each program call them, because a
// command structure is part of its main package.
package argstest

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ethos/pkg/cli"
	"ethos/pkg/ethosargs"
)

// Program returns the program for a command line, as its main function does.
type Program func(args []string) cli.Program

func system() *cli.System {
	return &cli.System{Stdin: strings.NewReader(""), Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer), Dir: "/", Now: time.Now}
}

// Table compares the commands and options of a program with those of the table. program must return
// the complete model for the arguments "--help".
func Table(t *testing.T, program Program) {
	t.Helper()
	real := program([]string{"--help"})
	table, ok := ethosargs.Find(real.Name)
	if !ok {
		t.Fatalf("%s is not in the table of pkg/ethosargs", real.Name)
	}
	commands, err := real.Grammar(system())
	if err != nil {
		t.Fatal(err)
	}
	sameOptions(t, real.Name, commands[0].Flags, ethosargs.Common())
	found := map[string]bool{}
	for _, c := range commands[1:] {
		found[c.Name] = true
		i := slices.IndexFunc(table.Commands, func(e ethosargs.Command) bool { return e.Name == c.Name })
		if i < 0 {
			if !slices.ContainsFunc(commands, func(o cli.CommandGrammar) bool { return strings.HasPrefix(o.Name, c.Name+" ") }) {
				t.Errorf("%s %s is not in the table of pkg/ethosargs: say there what it is, and the class of each option", real.Name, c.Name)
			}
			continue
		}
		sameCommand(t, real.Name, c, table.Commands[i])
	}
	for _, c := range table.Commands {
		if !found[c.Name] && !c.Announced {
			t.Errorf("%s has no command %s: take it out of the table of pkg/ethosargs", real.Name, c.Name)
		}
	}
}

func sameCommand(t *testing.T, program string, real cli.CommandGrammar, table ethosargs.Command) {
	t.Helper()
	operands := ethosargs.NoOperands
	switch {
	case real.Passthrough:
		operands = ethosargs.Passthrough
	case real.Operands:
		operands = ethosargs.Words
	}
	name := program + " " + real.Name
	if real.Default != table.Default || operands != table.Operands {
		t.Errorf("%s: default %t, operands %d; the table of pkg/ethosargs has %t, %d", name, real.Default, operands, table.Default, table.Operands)
	}
	sameOptions(t, name, real.Flags, table.Options)
}

func sameOptions(t *testing.T, command string, real []cli.FlagGrammar, table []ethosargs.Option) {
	t.Helper()
	for _, f := range real {
		i := slices.IndexFunc(table, func(o ethosargs.Option) bool { return o.Name == f.Name })
		switch {
		case i < 0:
			t.Errorf("%s --%s has no class: give it one in the table of pkg/ethosargs", command, f.Name)
		case table[i].Class == 0:
			t.Errorf("%s --%s has no class in the table of pkg/ethosargs", command, f.Name)
		case table[i].Bool != f.Bool || short(table[i]) != f.Short:
			t.Errorf("%s --%s: bool %t, short %q; the table of pkg/ethosargs has %t, %q", command, f.Name, f.Bool, f.Short, table[i].Bool, short(table[i]))
		}
	}
	for _, o := range table {
		if !slices.ContainsFunc(real, func(f cli.FlagGrammar) bool { return f.Name == o.Name }) {
			t.Errorf("%s has no --%s: take it out of the table of pkg/ethosargs", command, o.Name)
		}
	}
}

func short(o ethosargs.Option) string {
	if o.Short == 0 {
		return ""
	}
	return string(rune(o.Short))
}

// Agree reads args with the program's own model and with the table. If the model accepts them, both
// must give the same result.
func Agree(t *testing.T, program Program, args []string) {
	t.Helper()
	real := program(args)
	table, _ := ethosargs.Find(real.Name)
	words := make([]ethosargs.Word, len(args))
	for i, a := range args {
		words[i] = ethosargs.Word{Text: a, Known: true}
	}
	ours := ethosargs.Read(table, words)
	quickly(t, program, args)
	theirs, err := real.Read(system(), args)
	if err != nil {
		return // the program does nothing
	}
	if len(ours.Unknown) > 0 {
		t.Fatalf("%q is accepted, and not read: %q", args, ours.Unknown)
	}
	named := func(c ethosargs.Command) bool { return c.Name == theirs.Command }
	if ours.Command == nil && theirs.Command != "" && !slices.ContainsFunc(table.Commands, named) {
		return // a group of commands without a command: the program refuses it
	}
	if ours.Name() != theirs.Command {
		t.Fatalf("%q: command %q, want %q", args, ours.Name(), theirs.Command)
	}
	sameFlags(t, args, ours, theirs)
	sameRest(t, args, ours, theirs)
}

// quickly compares what a program reads without its model with what the model reads.
func quickly(t *testing.T, program Program, args []string) {
	t.Helper()
	if program(args).Quick == nil {
		return
	}
	quick := program(args).Quick(args)
	if quick == nil {
		return
	}
	slow, err := program(args).Selected(system(), args)
	if err != nil {
		t.Fatalf("%q is read without the model, which refuses it: %v", args, err)
	}
	if alike(quick); !reflect.DeepEqual(quick, alike(slow)) {
		t.Fatalf("%q:\nwithout the model %+v\nby the model      %+v", args, quick, slow)
	}
}

// alike removes the "--" from a command to run, which the model may keep or drop.
func alike(command any) any {
	argv := reflect.ValueOf(command).Elem().FieldByName("Argv")
	if argv.IsValid() && argv.Len() > 0 {
		argv.Set(reflect.ValueOf(cli.Argv(slices.Clone(argv.Interface().(cli.Argv).Words()))))
	}
	return command
}

func sameFlags(t *testing.T, args []string, ours ethosargs.Call, theirs cli.Reading) {
	t.Helper()
	given := map[string][]string{}
	for _, g := range ours.Given {
		value := g.Value
		if g.Option.Bool {
			value = map[bool]string{true: "true", false: "false"}[g.On]
			if slices.Contains(theirs.Flags[g.Option.Name], g.Value) && g.Value != "" { // a switch with an optional value: [cli.Choice]
				value = g.Value
			}
		}
		given[g.Option.Name] = append(given[g.Option.Name], value)
	}
	for name, values := range theirs.Flags {
		mine := given[name]
		if slices.EqualFunc(mine, values, samePath) || len(values) == 1 && len(mine) > 0 && sameNumber(mine[len(mine)-1], values[0]) ||
			strings.Join(mine, ",") == strings.Join(values, ",") || splits(mine, values) {
			delete(given, name)
			continue
		}
		t.Fatalf("%q: --%s %q, want %q", args, name, mine, values)
	}
	if len(given) > 0 {
		t.Fatalf("%q: %q were not given", args, given)
	}
}

// samePath accepts that a model makes paths absolute.
func samePath(mine, theirs string) bool {
	full, err := filepath.Abs(mine)
	return mine == theirs || err == nil && filepath.IsAbs(theirs) && full == theirs
}

// sameNumber compares values in the form that the model prints, in which numbers lose digits
// without meaning.
func sameNumber(mine, theirs string) bool {
	return mine == theirs || strings.TrimLeft(strings.TrimPrefix(mine, "+"), "0") == strings.TrimLeft(theirs, "0")
}

// splits reports whether the model splits a list at commas. A backslash escapes a comma.
func splits(mine, theirs []string) bool {
	plain := func(s []string) string {
		return strings.NewReplacer(",", "", `\`, "").Replace(strings.Join(s, ""))
	}
	return plain(mine) == plain(theirs)
}

func sameRest(t *testing.T, args []string, ours ethosargs.Call, theirs cli.Reading) {
	t.Helper()
	if ours.Foreign {
		return // kong splits the word
	}
	var mine []string
	for _, i := range ours.Operands {
		mine = append(mine, args[i])
	}
	want := theirs.Operands
	if ours.Rest >= 0 {
		mine = append(mine, args[ours.Rest:]...)
		want = cli.Argv(want).Words()
	}
	if !slices.EqualFunc(mine, want, samePath) {
		t.Fatalf("%q: operands %q, want %q", args, mine, want)
	}
}

// Random compares n random command lines, the same in each run, and every command followed by the
// beginning of a command line to pass on.
func Random(t *testing.T, program Program, n int) {
	t.Helper()
	table, _ := ethosargs.Find(program(nil).Name)
	for _, c := range table.Commands {
		for _, rest := range []string{"--bogus x", "-Zx y", "-- ls --bogus", "ls -- --bogus", "-- -- ls", "--help=no ls", "-hZ ls", "- x"} {
			Agree(t, program, strings.Fields(c.Name+" "+rest))
			Agree(t, program, strings.Fields("-- "+c.Name+" "+rest))
			Agree(t, program, strings.Fields(rest+" "+c.Name))
		}
	}
	words, r := vocabulary(program), rand.New(rand.NewPCG(1, 2))
	if testing.Short() {
		n /= 10
	}
	for range n {
		args := make([]string, r.IntN(6))
		for i := range args {
			args[i] = words[r.IntN(len(words))]
		}
		if r.IntN(2) == 0 {
			args = append(strings.Fields(table.Commands[r.IntN(len(table.Commands))].Name), args...)
		}
		Agree(t, program, args)
	}
}

// Fuzz compares random command lines: each byte of the input selects a word, an option of the
// program in one of its spellings, or a value.
func Fuzz(f *testing.F, program Program) {
	words := vocabulary(program)
	for i := range 64 {
		f.Add([]byte{byte(i), byte(3 * i), byte(7 * i), byte(11 * i), byte(13 * i)})
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var args []string
		for i := 0; i+1 < len(input) && len(args) < 12; i += 2 {
			args = append(args, words[(int(input[i])<<8|int(input[i+1]))%len(words)])
		}
		Agree(t, program, args)
	})
}

// vocabulary returns the words from which random command lines are built.
func vocabulary(program Program) []string {
	list := []string{"--", "-", "", "x", "a=b", "0", "7", "--bogus", "-Z", "--=", "a,b", `a\,b`, "none", "auto", "-1", "--help=false", "true", "ls", "--no-quiet"}
	list = append(list, list...)
	commands, err := program([]string{"--help"}).Grammar(system())
	if err != nil {
		panic(err)
	}
	for _, c := range commands {
		list = append(list, strings.Fields(c.Name)...)
		for _, f := range c.Flags {
			list = append(list, "--"+f.Name, "--"+f.Name+"=v", "--"+f.Name+"=", "--"+f.Name+"=none", "--"+f.Name[:len(f.Name)-1], "--"+f.Name+"=7", "--"+f.Name+"=false")
			if f.Short != "" {
				list = append(list, "-"+f.Short, "-"+f.Short+"v", "-"+f.Short+"=v", "-"+f.Short+f.Short, "-"+f.Short+"7", "-"+f.Short+"q", "-q"+f.Short)
			}
		}
	}
	return list
}
