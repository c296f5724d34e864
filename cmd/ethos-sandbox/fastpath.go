package main

import (
	"ethos/pkg/cli"
	"ethos/pkg/flagfield"
)

// fastPath parses the usual command lines of run and shell with [flagfield.Plain], because the
// model of the whole command line takes longer than planning a small command.
func fastPath(args []string) cli.Command {
	if len(args) < 2 {
		return nil
	}
	switch args[0] {
	case "run":
		c := &runCmd{}
		if rest, ok := flagfield.Plain(c, args[1:]); ok && len(rest) > 1 {
			c.Argv = rest
			return c
		}
	case "shell":
		c := &shellCmd{}
		if rest, ok := flagfield.Plain(c, args[1:]); ok {
			c.Args = rest
			return c
		}
	}
	return nil
}
