//go:build noegress

package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
)

// program has no model of command lines: those that fastPath does not parse, and those of which it
// is only known later, when something has been read or done, whether names are reachable, are left
// to ethos-egress.
func program() cli.Program {
	return cli.Program{Name: "ethos-sandbox", Quick: func(args []string) cli.Command {
		if len(args) > 0 && (args[0] == "run" || args[0] == "shell" && inSession(args[1:])) {
			if c := fastPath(args); c != nil {
				return c
			}
		}
		return becoming{args}
	}}
}

// inSession reports whether a shell runs in a session and asks for no less than that has: its
// options are those that an answer to an agent's hook gives.
func inSession(args []string) (found bool) {
	const session, record = "--session", "--record"
	for i := 0; i < len(args); i++ {
		name, _, given := strings.Cut(args[i], "=")
		switch {
		case name == "-c" || name == "--":
			return found
		case name != session && name != record:
			return false
		}
		found = found || name == session
		if !given {
			i++
		}
	}
	return found
}

// becoming is a command line that ethos-egress handles.
type becoming struct{ args []string }

// Kind implements cli.Kinder: the caller of a runner would take status 2 for its command's.
func (b becoming) Kind() cli.Kind {
	if len(b.args) > 0 && (b.args[0] == "run" || b.args[0] == "shell") {
		return cli.Runner
	}
	return cli.Filter
}

func (b becoming) Run(ctx context.Context, sys *cli.System) error { return become(ctx, sys, b.Kind()) }

// handOver lets the program become ethos-egress if the boundary of a spec needs it. Nothing may have
// been read or done that would be missing or done twice.
func handOver(ctx context.Context, sys *cli.System, spec *sandbox.Spec) error {
	if spec.Whole().Network.Mode != "proxy" {
		return nil
	}
	return become(ctx, sys, cli.Runner)
}

// become returns only with an error.
func become(ctx context.Context, sys *cli.System, kind cli.Kind) error {
	if err := ctx.Err(); err != nil { // a signal that was caught: the program after this one does not get it
		return err
	}
	sandbox.Release()
	err := cli.BecomeWith(sys, whole, os.Args[1:]...)
	if fault := (*cli.Error)(nil); kind == cli.Runner && errors.As(err, &fault) {
		fault.Status = cli.Refused
	}
	return err
}

// supervisor returns the program that holds sessions, because any may be given names.
func supervisor() (string, error) { return cli.Beside(whole) }

// networked is for learn, which ethos-egress carries out. The catalog is not linked into this
// program.
func networked(string) []string { return nil }
