package main

import (
	"ethos/pkg/cli"
	"ethos/pkg/sandbox"
)

// backendFlags select what makes the boundary. Only a person can choose it; no
// configuration sets it.
type backendFlags struct {
	Backend string `placeholder:"NAME" enum:",native,bwrap,landlock,seatbelt,none" default:"" help:"Backend of the boundary: native; bwrap, where only bubblewrap can create namespaces; landlock, for machines where you cannot create namespaces; seatbelt, for macOS; or none, which isolates nothing."`
}

// alone refuses these flags in a session.
func (f *backendFlags) alone() error {
	if f.Backend == "" {
		return nil
	}
	return cli.Errorf(cli.Refused, "omit --backend or --session", "--backend cannot be used with --session, because the session has its boundary already")
}

// weaker says what a backend does not protect for a caller, and the remedy. It
// returns "" if nothing has to be reported in each run.
func weaker(backend string, uid int) (says, way string) {
	switch {
	case backend == sandbox.None:
		return "nothing is isolated: --backend none runs the command with all of your rights", "omit --backend, or use --backend landlock if there are no user namespaces"
	case backend == sandbox.Seatbelt:
		return "--backend seatbelt has never been tested on macOS", "before you rely on it, try whether it stops what it has to stop; docs/backends.md says what it enforces and what it does not"
	case backend == sandbox.Bwrap && uid == 0:
		return "--backend bwrap as root: the command can change the mode of the device nodes in /dev, which are the host's", "run it as an ordinary user, or omit --backend"
	case backend == sandbox.Landlock && uid == 0:
		return "--backend landlock as root: the command can change mode, owner and times of every file of root on this machine", "run it as an ordinary user, or omit --backend"
	}
	return "", ""
}

// seatbeltHeader precedes the profile that plan prints for the backend seatbelt.
const seatbeltHeader = "; The profile of this plan for the sandbox of macOS. To try it there:\n" +
	"; mkdir /private/tmp/scratch && TMPDIR=/private/tmp/scratch sandbox-exec -D SCRATCH=/private/tmp/scratch -f THIS_FILE COMMAND\n"
