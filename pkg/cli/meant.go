//go:build !nomodel

package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"ethos/pkg/nearest"
)

// otherWord returns our word for what other programs call a command.
func otherWord(word string) string {
	switch word {
	case "rm", "delete":
		return "remove"
	case "stop", "kill":
		return "end"
	case "clean", "clear":
		return "prune"
	}
	return ""
}

// meant returns the beginning of a hint with what an unexpected word was
// probably meant to be, or "" if that is unknown: a command beside the last one
// that was named, or above it, or the value of --name.
func (p Program) meant(err error) string {
	var fault *kong.ParseError
	if flag, ok := unexpectedFlag(err); ok && errors.As(err, &fault) && fault.Context != nil {
		return meantFlag(flag, cmp.Or(fault.Context.Selected(), fault.Context.Model.Node))
	}
	word, ok := unexpectedWord(err)
	if !ok || word == "help" || !errors.As(err, &fault) || fault.Context == nil {
		return ""
	}
	node := lastNamed(fault.Context)
	if len(node.Children) == 0 && len(node.Positional) == 0 && slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == "name" }) {
		return "did you mean --name " + word + "? "
	}
	for ; node != nil; node = node.Parent {
		if name := command(word, node); name != "" {
			return "did you mean " + node.FullPath() + " " + name + "? "
		}
	}
	return ""
}

// unexpectedWord returns the word that kong did not expect. Kong may add a guess,
// which [Program.meant] replaces.
func unexpectedWord(err error) (word string, ok bool) {
	return notExpected(err, "unexpected argument ")
}

func unexpectedFlag(err error) (flag string, ok bool) { return notExpected(err, "unknown flag ") }

func notExpected(err error, what string) (word string, ok bool) {
	word, ok = strings.CutPrefix(err.Error(), what)
	word, _, _ = strings.Cut(word, ", did you mean ")
	return word, ok
}

// meantFlag returns the beginning of a hint with the flag of a command that a word was probably meant
// to be, or "".
func meantFlag(word string, node *kong.Node) string {
	word, _, _ = strings.Cut(strings.TrimLeft(word, "-"), "=")
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	var names []string
	for _, flags := range node.AllFlags(true) {
		for _, f := range flags {
			names = append(names, f.Name)
		}
	}
	if name := nearest.Name(word, names); name != "" {
		return "did you mean --" + name + "? "
	}
	return ""
}

// command returns the command below a node that the word is probably meant to
// be, or "".
func command(word string, node *kong.Node) string {
	var names []string
	for _, c := range node.Children {
		if !c.Hidden {
			names = append(append(names, c.Name), c.Aliases...)
		}
	}
	if name := otherWord(word); slices.Contains(names, name) {
		return name
	}
	return nearest.Name(word, names)
}

// lastNamed returns the last command that the arguments name, else the program.
// A command that kong chose by default is not named.
func lastNamed(parsed *kong.Context) *kong.Node {
	node := parsed.Model.Node
	for _, step := range parsed.Path {
		if step.Command != nil && slices.Contains(parsed.Args, step.Command.Name) {
			node = step.Command
		}
	}
	return node
}
