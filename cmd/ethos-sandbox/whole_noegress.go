//go:build noegress

package main

import (
	"context"
	"os"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
)

// quick parses the usual command lines, and leaves to ethos-egress those of which it is only known
// later, when something has been read or done, whether names are reachable.
func quick(args []string) cli.Command {
	if alone(args) {
		return fastPath(args)
	}
	return becoming{}
}

// alone reports whether a command line needs no package egress, or hands over in time.
func alone(args []string) bool {
	if len(args) == 0 { // the pipe
		return false
	}
	switch args[0] {
	case "run", "plan", "probe", "doctor", "probe-inside", "worker-inside", "cache", "--help", "-h", "--version", "--man", "--completion", "--schema":
		return true
	case "session":
		return len(args) < 2 || args[1] != "serve"
	case "shell":
		return inSession(args[1:])
	}
	return false
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
type becoming struct{}

// Run implements cli.Command.
func (becoming) Run(ctx context.Context, sys *cli.System) error { return become(ctx, sys) }

// handOver lets the program become ethos-egress if the boundary of a spec needs it. Nothing may have
// been read or done that would be missing or done twice.
func handOver(ctx context.Context, sys *cli.System, spec *sandbox.Spec) error {
	if spec.Whole().Network.Mode != "proxy" {
		return nil
	}
	return become(ctx, sys)
}

// become returns only with an error.
func become(ctx context.Context, sys *cli.System) error {
	if err := ctx.Err(); err != nil { // a signal that was caught: the program after this one does not get it
		return err
	}
	return cli.BecomeWith(sys, whole, os.Args[1:]...)
}

// supervisor returns the program that holds sessions, because any may be given names.
func supervisor() (string, error) { return cli.Beside(whole) }

// networked is for learn, which ethos-egress carries out. The catalog is not linked into this
// program.
func networked(string) []string { return nil }
