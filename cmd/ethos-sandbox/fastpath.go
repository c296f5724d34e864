package main

import (
	"reflect"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox/boundary"
)

// fastPath reads the usual command lines of run and shell by the fields of their
// structs, without the model of the whole command line: building that takes
// longer than making the plan of a small command. What it does not know, or
// finds wrong, is nil, and read anew by the model, which has the messages. A test
// holds the two equal.
func fastPath(args []string) cli.Command {
	if len(args) < 2 {
		return nil
	}
	switch args[0] {
	case "run":
		c := &runCmd{}
		if rest, ok := readFlags(c, args[1:]); ok && len(rest) > 1 {
			c.Argv = rest
			return c
		}
	case "shell":
		c := &shellCmd{}
		if rest, ok := readFlags(c, args[1:]); ok {
			c.Args = rest
			return c
		}
	}
	return nil
}

// readFlags sets the flags before "--", and returns what begins with that. ok
// says that all of it was plain: a known flag that takes text, and a value that
// is not empty and is no flag.
func readFlags(command any, args []string) (rest []string, ok bool) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return args[i:], true
		}
		name, value, joined := strings.Cut(args[i], "=")
		if !joined {
			if i++; i == len(args) {
				return nil, false
			}
			value = args[i]
		}
		if value == "" || value[0] == '-' || joined && !strings.HasPrefix(name, "--") {
			return nil, false
		}
		to, tag := boundary.Field(reflect.ValueOf(command).Elem(), name)
		words, limited := tag.Lookup("enum")
		switch {
		case limited && !slices.Contains(strings.Split(words, ","), value):
			return nil, false
		case to.Kind() == reflect.String:
			to.SetString(value)
		case to.Kind() == reflect.Slice && tag.Get("sep") == "none":
			to.Set(reflect.Append(to, reflect.ValueOf(value)))
		case to.Kind() == reflect.Slice:
			words := strings.Split(value, ",")
			if strings.Contains(value, `\`) || slices.Contains(words, "") {
				return nil, false
			}
			to.Set(reflect.AppendSlice(to, reflect.ValueOf(words)))
		default:
			return nil, false
		}
	}
	return nil, true
}
