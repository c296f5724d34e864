package main

import (
	"errors"

	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/policy"
	"ethos/pkg/trust"
)

// policyFlags select the policies that decide.
type policyFlags struct {
	Policy []string      `type:"path" sep:"none" placeholder:"FILE|DIR" help:"Load the policies of a file, or of every YAML file in a directory."`
	Pack   []string      `placeholder:"NAME" sep:"none" help:"Load a shipped pack in addition to core."`
	bounds policy.Bounds // of each evaluation; other than the default only in tests
}

func (f policyFlags) options() decide.Options {
	return decide.Options{Policies: f.Policy, Packs: f.Pack, Bounds: f.bounds, Version: cli.Version}
}

func (f policyFlags) library(sys *cli.System) *decide.Library {
	return decide.NewLibrary(f.options(), trust.New(sys.Getenv))
}

// badPolicy gives an error of policies the status with which the program ends:
// without its policies it must allow nothing. It returns every other error as
// it is.
func badPolicy(err error) error {
	if bad := (*decide.Error)(nil); errors.As(err, &bad) {
		return &cli.Error{Status: cli.BadInput, Err: err, Hint: bad.Hint}
	}
	return err
}
