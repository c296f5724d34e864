//go:build !nocel

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/agent"
	"ethos/pkg/cli"
	"ethos/pkg/hook/setup"
	"ethos/pkg/printable"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

// hookCmd sets up agents.
type hookCmd struct {
	Install hookInstallCmd `cmd:"" help:"Add the hook to an agent's settings, so that its calls are decided, confined and recorded."`
	Status  hookStatusCmd  `cmd:"" help:"Show which agents on this machine ask ethos, how, and when they last did."`
	Remove  hookRemoveCmd  `cmd:"" help:"Remove the hook from an agent's settings."`
}

// placeFlags select the settings to change.
type placeFlags struct {
	Agent   string `arg:"" help:"${agents}."`
	User    bool   `xor:"place" help:"Use the user's settings, for all projects. This is the default."`
	Project bool   `xor:"place" help:"Use the settings in the work tree of the current directory."`
	Yes     bool   `help:"Write without asking."`
	DryRun  bool   `help:"Show what would be written; write nothing."`
}

type hookInstallCmd struct {
	placeFlags
	NoConfine bool       `xor:"confine" help:"Run allowed commands outside of a boundary, as the user."`
	Confine   cli.Choice `xor:"confine" help:"Whether Claude Code asks the person before a confined call: =ask always, =allow never. By default it asks unless questions are turned off."`
}

// Help implements kong.HelpProvider.
func (*hookInstallCmd) Help() string {
	return `Shows the change as a diff and asks on the terminal. Comments, unknown keys and the layout of the file stay; a copy of the old file is kept as NAME.before-ethos.
Installing again changes nothing, or replaces an old form of the hook. A file that cannot be edited reliably is refused and left unchanged.

Status 1: the person said no; 2: there is no terminal to ask on, and no --yes; 3: the settings cannot be read or edited.`
}

func (c *hookInstallCmd) Run(ctx context.Context, sys *cli.System) error {
	if err := c.Confine.Check("--confine", confineAsk, confineAllow); err != nil {
		return err
	}
	place, err := c.place(sys)
	if err != nil {
		return err
	}
	o := setup.Options{Confine: strings.TrimPrefix(string(c.Confine), string(cli.Chosen)), Programs: programsFor(sys)}
	if c.NoConfine {
		o.Confine = string(confineNo)
	}
	version, err := versionOf(ctx, sys, place.Agent)
	o.Failed = err == nil && place.Agent.Failed != "" && !older(version, place.Agent.Failed)
	note := versionNote(place.Agent, version, err)
	change, err := place.Install(o)
	if err != nil {
		return notEdited(err)
	}
	tellAllPutAside(ctx, sys)
	if err := c.write(ctx, sys, place, change, "is already set up like this"); err != nil || c.DryRun {
		return err
	}
	return c.tell(sys, place.Agent, o, note)
}

// tell prints what the hook cannot guarantee.
func (c *hookInstallCmd) tell(sys *cli.System, a setup.Agent, o setup.Options, version string) error {
	notes := append([]string{setup.InProcess}, a.Caveats...)
	if c.NoConfine {
		notes = append(notes, "Allowed commands run as you, without a boundary, also in auto mode.")
	}
	if o.Unquotable() {
		notes = append(notes, "The hook names the programs without their directory, "+printable.Word(o.Programs)+": a character in it, such as a space, would need quotes. The agent's PATH must lead to it, or to programs of the same version elsewhere.")
	}
	if off, _ := setup.Off(a.Name, settingsDirs(sys)); off != "" {
		sys.Warn(printable.Line(a.Title+" does not run the hook as it is, and ethos may not be asked: "+off), "take that setting out; ethos-decide hook status "+a.Name+" then says guarded")
	}
	for _, n := range append(notes, version, unfound(sys)) {
		if n == "" {
			continue
		}
		if err := sys.Printf("note: %s\n", n); err != nil {
			return err
		}
	}
	return nil
}

type hookRemoveCmd struct{ placeFlags }

func (c *hookRemoveCmd) Run(ctx context.Context, sys *cli.System) error {
	place, err := c.place(sys)
	if err != nil {
		return err
	}
	change, err := place.Remove()
	if err != nil {
		return notEdited(err)
	}
	return c.write(ctx, sys, place, change, "has no ethos hook there")
}

func notEdited(err error) error {
	return cli.Errorf(cli.BadInput, "nothing was changed; fix the file, or add the hook by hand as in examples/", "%w", err)
}

func (c *placeFlags) place(sys *cli.System) (setup.Place, error) {
	if trust.Inside() {
		return setup.Place{}, cli.Errorf(cli.NegativeStatus, "a person must run it outside of ethos-sandbox", "hook: a confined command cannot change an agent's settings")
	}
	place, err := setup.Where(c.Agent, c.Project, settingsDirs(sys))
	if err != nil {
		hint := cli.Known(c.Agent, agent.Names())
		if slices.Contains(agent.Names(), c.Agent) {
			hint = "set HOME to your home directory"
		}
		return place, cli.Errorf(cli.Usage, hint, "hook: %w", err)
	}
	return place, nil
}

func settingsDirs(sys *cli.System) setup.Dirs {
	return setup.Dirs{Home: sys.Getenv("HOME"), Project: trace.WorkTree(sys.Dir), Getenv: sys.Getenv}
}

// write shows a change, asks for confirmation, and makes it.
func (c *placeFlags) write(ctx context.Context, sys *cli.System, place setup.Place, change *setup.Change, none string) error {
	if change.Empty() {
		return sys.Printf("%s %s\n", c.Agent, none)
	}
	if err := sys.Print(change.Diff()); err != nil || c.DryRun {
		return err
	}
	if err := unprotected(ctx, sys, place); err != nil {
		return err
	}
	if !c.Yes {
		if agreed, err := agree(sys, "Write this? [y/N] "); err != nil || !agreed {
			return err
		}
	}
	if err := change.Write(); err != nil {
		return cli.Errorf(cli.BadInput, "the file that it names is unchanged", "%w", err)
	}
	return nil
}

// unprotected refuses to write settings that a running session protects: it would put aside what
// appears there, and end if a file is replaced.
func unprotected(ctx context.Context, sys *cli.System, place setup.Place) error {
	for _, path := range place.Paths() {
		if name := sessionAt(ctx, sys, path); name != "" {
			return cli.Errorf(cli.BadInput, "end it, then run this again: ethos-sandbox session end "+name,
				"nothing was written: session %s is running and protects %s: it would quarantine what is created there", name, path)
		}
	}
	return nil
}

// agree asks the user. If the answer is no, the error is the negative status.
func agree(sys *cli.System, question string) (bool, error) {
	terminal, err := terminalOf(sys)
	if err != nil {
		return false, cli.Errorf(cli.Usage, "use --yes to write it, or --dry-run to only show it", "nothing was written: there is no terminal to ask on (%w)", err)
	}
	defer terminal.Close()
	agreed, err := answered(terminal, question)
	if err == nil && !agreed {
		err = cli.Negative
	}
	return agreed, err
}

// ownPrograms returns the directory of this program, in which the others are, or "".
func ownPrograms() string {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return ""
	}
	return filepath.Dir(self)
}

// programsFor returns the directory of the programs if PATH does not lead to
// these ones, else "".
func programsFor(sys *cli.System) string {
	own := ownPrograms()
	if own == "" {
		return ""
	}
	for _, dir := range filepath.SplitList(sys.Getenv("PATH")) {
		found, err := filepath.EvalSymlinks(filepath.Join(dir, "ethos-decide"))
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		if filepath.Dir(found) == own { // this program may be the ethos-cel beside it
			return ""
		}
		break
	}
	return own
}
