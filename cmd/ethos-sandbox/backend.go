package main

import (
	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
)

// backendFlags select what makes the boundary. Only a person can choose it; no
// configuration sets it.
type backendFlags struct {
	Backend string `placeholder:"NAME" enum:",native,landlock,none" default:"" help:"Backend of the boundary: native; landlock, for machines where you cannot create namespaces; or none, which isolates nothing."`
}

// alone refuses these flags in a session.
func (f *backendFlags) alone() error {
	if f.Backend == "" {
		return nil
	}
	return cli.Errorf(cli.Refused, "leave one of the two out", "--backend is not for a command of a session, whose boundary is there")
}

// weaker says what a backend does not protect for a caller, and the remedy. It
// returns "" if nothing has to be reported in each run.
func weaker(backend string, uid int) (says, way string) {
	switch {
	case backend == sandbox.None:
		return "nothing is isolated: --backend none runs the command with all that you may do", "leave --backend out, or give --backend landlock where there are no user namespaces"
	case backend == sandbox.Landlock && uid == 0:
		return "--backend landlock as root: the command can change the mode, the owner and the times of every file of root on the machine", "run it as an ordinary user, or leave --backend out"
	}
	return "", ""
}
