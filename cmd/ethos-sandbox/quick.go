package main

import (
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox/boundary"
)

// quick reads the usual command lines of run and shell without the model of the whole command line: building that takes longer than making the plan of a small
// command. What it does not know, or finds wrong, is nil, and read anew by the model, which has the messages. A test holds the two equal.
func quick(args []string) cli.Command {
	if len(args) < 2 {
		return nil
	}
	switch args[0] {
	case "run":
		c := &runCmd{}
		if rest, ok := read(&c.Flags, args[1:], &c.Evidence, nil); ok && len(rest) > 1 {
			c.Argv = rest
			return c
		}
	case "shell":
		c := &shellCmd{}
		if rest, ok := read(&c.Flags, args[1:], &c.Evidence, &c.Command); ok {
			c.Args = rest
			return c
		}
	}
	return nil
}

// read sets the flags before "--", and returns what begins with that. ok says that all of it was plain: a known flag, and a value that is not empty and is no flag.
func read(f *boundary.Flags, args []string, evidence, command *string) (rest []string, ok bool) {
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
		switch one, many := place(f, name, evidence, command); {
		case one == &f.Net && !slices.Contains([]string{"none", "loopback", "proxy", "host"}, value):
			return nil, false
		case one != nil:
			*one = value
		case many != nil:
			*many = append(*many, value)
		default:
			return nil, false
		}
	}
	return nil, true
}

// place is where the value of a flag goes.
func place(f *boundary.Flags, name string, evidence, command *string) (one *string, many *[]string) {
	switch name {
	case "--profile":
		return &f.Profile, nil
	case "--net":
		return &f.Net, nil
	case "--timeout":
		return &f.Timeout, nil
	case "--memory":
		return &f.Memory, nil
	case "--cpu":
		return &f.CPU, nil
	case "--evidence":
		return evidence, nil
	case "-c":
		return command, nil
	case "--ro":
		return nil, &f.Ro
	case "--rw":
		return nil, &f.Rw
	case "--deny-read":
		return nil, &f.DenyRead
	case "--deny-write":
		return nil, &f.DenyWrite
	case "--unix-socket":
		return nil, &f.UnixSocket
	case "--env":
		return nil, &f.Env
	}
	return nil, nil
}
