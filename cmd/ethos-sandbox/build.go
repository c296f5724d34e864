package main

import (
	"errors"

	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

// specOfFlags makes the spec for argv. Paths are relative to the working directory.
func specOfFlags(sys *cli.System, f *boundary.Flags, argv []string) (sandbox.Spec, error) {
	return f.Spec(sandbox.HostFiles{}, sys.Dir, sys.Environ, argv)
}

// behindDashes returns the words of a command. An unknown flag before them is an error.
func behindDashes(argv cli.Argv, status cli.Status) ([]string, error) {
	if err := argv.Unknown(); err != nil {
		return nil, cli.Errorf(status, "ethos-sandbox COMMAND --help shows the flags; the command to run goes after --", "%w", err)
	}
	return argv.Words(), nil
}

// build makes the plan for a spec. A refusal becomes an error with the given status.
func build(sys *cli.System, spec sandbox.Spec, status cli.Status) (*sandbox.Plan, error) {
	plan, err := planOf(sys, spec, "")
	if err != nil {
		return nil, refused(err, status)
	}
	return plan, nil
}

// inOuter lets a command run in the boundary around this process if it is another ethos-sandbox's
// and none can be made in it.
func inOuter(spec *sandbox.Spec) {
	if spec.Backend == "" && sandbox.OnlyOuter() {
		spec.Backend = sandbox.Outer
	}
}

// refused makes the message for a refusal. "not found" and "not executable" have statuses of their
// own.
func refused(err error, status cli.Status) error {
	var r *sandbox.Refusal
	if !errors.As(err, &r) {
		return &cli.Error{Status: status, Err: err}
	}
	switch r.Code {
	case sandbox.CodeNotFound:
		status = cli.NotFound
	case sandbox.CodeNotExec:
		status = cli.NotExecutable
	case sandbox.CodeUnsupported:
		if status != cli.Refused { // a runner's 4 is its command's
			status = cli.CannotEnforce
		}
	}
	return &cli.Error{Status: status, Err: err, Hint: r.Hint}
}
