//go:build !nomodel

package cli

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// CommandGrammar describes the command line of one command as data. Package
// ethosargs must agree with it.
type CommandGrammar struct {
	Name        string // nested commands joined by spaces; "" is the program itself
	Default     bool
	Operands    bool
	Passthrough bool // the operands are a command line to run
	Flags       []FlagGrammar
}

// FlagGrammar describes one flag of a command.
type FlagGrammar struct {
	Name  string
	Short string // "" for none
	Bool  bool
}

// Grammar returns the grammar of the program itself, with the flags that every
// command has, and of each of its commands.
func (p Program) Grammar(sys *System) ([]CommandGrammar, error) {
	model, err := p.model(sys)
	if err != nil {
		return nil, err
	}
	return grammarOf(model.Model.Node, nil), nil
}

func grammarOf(n *kong.Node, list []CommandGrammar) []CommandGrammar {
	c := CommandGrammar{Name: commandPath(n), Default: n.Parent != nil && n.Parent.DefaultCmd == n, Operands: len(n.Positional) > 0}
	for _, arg := range n.Positional {
		c.Passthrough = c.Passthrough || arg.Passthrough
	}
	for _, f := range n.Flags {
		flag := FlagGrammar{Name: f.Name, Bool: f.IsBool() || f.IsCounter()}
		if f.Short != 0 {
			flag.Short = string(f.Short)
		}
		c.Flags = append(c.Flags, flag)
	}
	list = append(list, c)
	for _, child := range n.Children {
		list = grammarOf(child, list)
	}
	return list
}

func commandPath(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(commandPath(n.Parent) + " " + n.Name)
}

// Reading is the result of parsing a command line, before anything runs.
type Reading struct {
	Command  string
	Flags    map[string][]string // values of each given flag
	Operands []string
}

// Read parses args with the model and runs nothing, not even --help. Tests of
// package ethosargs compare against it.
func (p Program) Read(sys *System, args []string) (Reading, error) {
	out := Reading{Flags: map[string][]string{}}
	model, err := p.model(sys)
	if err != nil {
		return out, err
	}
	ctx, err := kong.Trace(model, args)
	if err == nil {
		err = ctx.Error
	}
	if err != nil {
		return out, err
	}
	for _, step := range ctx.Path {
		switch {
		case step.Command != nil:
			out.Command = commandPath(step.Command)
		case step.Flag != nil:
			out.Flags[step.Flag.Name] = textsOf(ctx.FlagValue(step.Flag))
		case step.Positional != nil:
			out.Operands = append(out.Operands, textsOf(ctx.Value(step).Interface())...)
		}
	}
	return out, nil
}

func textsOf(value any) []string {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Slice {
		return []string{fmt.Sprint(v.Interface())}
	}
	texts := make([]string, v.Len())
	for i := range texts {
		texts[i] = fmt.Sprint(v.Index(i).Interface())
	}
	return texts
}
