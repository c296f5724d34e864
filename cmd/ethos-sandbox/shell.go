package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
)

type shellCmd struct {
	boundary.Flags
	backendFlags
	evidenceFlags
	sessionFlags
	viewFlags
	parentFlags
	callerFlags
	PlainGit  bool     `help:"Leave git as it is: no policy on git commands inside."`
	Undecided bool     `help:"Run the script without a decision by ethos-facts and ethos-decide; only the boundary protects."`
	Command   string   `short:"c" placeholder:"SCRIPT" empty:"yes" help:"Run the script, as sh -c does; without it the shell is interactive, or reads standard input."`
	Args      cli.Argv `arg:"" optional:"" passthrough:"" name:"args" help:"$0 and the arguments of the script."`
}

func (*shellCmd) Kind() cli.Kind { return cli.Runner }

func (c *shellCmd) Run(ctx context.Context, sys *cli.System) error {
	given := c.Flags
	if c.Profile == "" {
		c.Profile = capability.AgentProfile
	}
	c.Untimed = c.Command == "" && interactive(sys.Stdin) // the user at the keyboard ends it
	c.record = c.recordOf(sys, record.Action{Kind: record.KindShell, Script: c.Command})
	argv := []string{shellOf(sys)}
	if c.Command != "" {
		argv = append(argv, "-c", c.Command)
	}
	words, err := behindDashes(c.Args, cli.Refused)
	if err != nil {
		return err
	}
	argv = append(argv, words...)
	stdin, done, err := c.before(ctx, sys, argv)
	if err != nil {
		return err
	}
	defer done()
	inside := *sys
	inside.Stdin = stdin
	sys = &inside
	if c.Session != "" {
		if err := cmp.Or(c.viewFlags.alone(), c.callerFlags.alone()); err != nil {
			return err
		}
		if err := c.backendFlags.alone(); err != nil {
			return err
		}
		if c.Parent != "" {
			return withSession()
		}
		j := joining{word: c.Session, flags: c.Flags, given: given, plainGit: c.PlainGit, argv: argv, evidence: &c.evidenceFlags}
		return j.run(ctx, sys)
	}
	spec, err := specNow(sys, &c.Flags, argv)
	if err != nil {
		return err
	}
	spec.Backend = c.Backend
	if inOuter(&spec); !c.PlainGit && spec.Backend != sandbox.Outer { // git there is as managed as it is for the caller
		if spec.Managed, err = managedGit(sys, spec.Workspace); err != nil {
			return err
		}
	}
	if err := c.within(sys, &c.Flags, &spec, !c.PlainGit); err != nil {
		return err
	}
	return runSpec(ctx, sys, spec, &c.evidenceFlags, &c.viewFlags, &c.callerFlags)
}

// interactive reports whether somebody types: standard input is a character
// device.
func interactive(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// shellOf returns the caller's shell if it reads scripts as sh does, else bash.
func shellOf(sys *cli.System) string {
	switch shell := sys.Getenv("SHELL"); filepath.Base(shell) {
	case "bash", "zsh", "dash", "ksh", "sh":
		return shell
	}
	return "bash"
}
