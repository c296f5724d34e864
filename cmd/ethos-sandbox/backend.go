package main

import "ethos/pkg/cli"

// backendFlags choose what makes the boundary. It is a person's choice: no
// configuration has it.
type backendFlags struct {
	Backend string `placeholder:"NAME" enum:",native,landlock,none" default:"" help:"What makes the boundary: native; landlock, without namespaces, where the machine has none for you; or none, which isolates nothing."`
}

// alone refuses them in a session.
func (f *backendFlags) alone() error {
	if f.Backend == "" {
		return nil
	}
	return cli.Errorf(cli.Refused, "leave one of the two out", "--backend is not for a command of a session, whose boundary is there")
}
