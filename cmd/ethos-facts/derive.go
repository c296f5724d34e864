package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ethos/pkg/catalog"
	"ethos/pkg/cli"
	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/hook"
	"ethos/pkg/nearest"
	"ethos/pkg/origin"
	"ethos/pkg/record"
	"ethos/pkg/statedir"
	"ethos/pkg/trust"
)

type deriveCmd struct {
	Script  *string  `short:"c" name:"command" placeholder:"SCRIPT" help:"One shell action, as in sh -c."`
	From    string   `placeholder:"FORMAT" help:"Read standard input: hook events of ${dialects}; lines (a script each); or records (facts derived again)."`
	Cwd     string   `placeholder:"DIR" help:"Working directory of the action. Default: the current one, or what the event says."`
	Mode    string   `enum:",plan,safe,auto,verify" default:"" help:"Trust mode (plan, safe, auto or verify). Default: ETHOS_MODE, the event's own, or safe."`
	Tool    string   `placeholder:"NAME" help:"Treat the action as this tool of the catalog."`
	Config  string   `placeholder:"FILE" help:"Repository configuration. Default: repo_config.yaml in the work space."`
	Profile string   `placeholder:"NAME" help:"Capability profile, instead of the one that would apply."`
	Grant   []string `placeholder:"CAP" sep:"none" help:"Widen the capabilities: network=proxy, domain=PATTERN, write=PATH, env=NAME, timeout=10m … (see docs/facts.md)."`
	MaxLine int      `default:"1048576" placeholder:"BYTES" help:"Longest line to read and write, in bytes."`
	Explain bool     `help:"Print the facts in readable form instead of records."`
	line    []string
	Argv    cli.Argv `arg:"" optional:"" passthrough:"" help:"One exec action, after --."`
}

func (c *deriveCmd) Run(ctx context.Context, sys *cli.System) error {
	if err := c.check(); err != nil {
		return err
	}
	w, err := c.writer(sys)
	if err != nil {
		return err
	}
	switch {
	case c.Script != nil:
		err = w.one(record.Action{Kind: record.KindShell, Script: *c.Script}, *c.Script)
	case len(c.Argv) > 0:
		err = w.exec(c.Argv.Words())
	case c.From == "lines":
		err = w.lines(ctx)
	case c.From == "records":
		err = w.records(ctx)
	default:
		err = w.events(ctx, c.From)
	}
	return w.finish(err)
}

func formats() []string { return append(hook.Dialects(), hook.Auto, "lines", "records") }

// check requires exactly one input.
func (c *deriveCmd) check() error {
	given := 0
	for _, is := range []bool{c.Script != nil, len(c.Argv) > 0, c.From != ""} {
		if is {
			given++
		}
	}
	const usage = "ethos-facts -- ARGV…, ethos-facts -c SCRIPT, or ethos-facts --from FORMAT < FILE"
	switch {
	case given == 0:
		return cli.Errorf(cli.Usage, usage, "no action is named")
	case given > 1:
		return cli.Errorf(cli.Usage, usage, "-c, --from and a command after -- exclude each other")
	case len(c.Argv) > 0 && !c.behindDashes():
		word := c.Argv.Words()[0]
		hint := "write a command after --, as in ethos-facts -- " + word
		if meant := nearest.Name(word, []string{"tools"}); meant != "" {
			hint = "did you mean ethos-facts " + meant + "? Otherwise, " + hint
		}
		return cli.Errorf(cli.Usage, hint, "%q is neither a command of ethos-facts nor after --", word)
	case len(c.Argv) > 0 && (len(c.Argv.Words()) == 0 || c.Argv.Words()[0] == ""):
		return cli.Errorf(cli.Usage, usage, "no command follows --")
	case c.From != "" && !slices.Contains(formats(), c.From):
		return cli.Errorf(cli.Usage, "known are "+strings.Join(formats(), ", "), "--from: unknown format %q", c.From)
	case c.Explain && c.From == "records":
		return cli.Errorf(cli.Usage, "omit --explain, or use ethos-decide explain", "--explain cannot be used with --from records")
	}
	return nil
}

// behindDashes reports whether the command was given after "--", so that a mistyped word is not
// taken for a command. The command is the end of the command line.
func (c *deriveCmd) behindDashes() bool {
	start := len(c.line) - len(c.Argv.Words())
	return start > 0 && c.line[start-1] == "--"
}

func (c *deriveCmd) writer(sys *cli.System) (*writer, error) {
	mode, err := record.ModeGiven(c.Mode, sys.Getenv)
	if err != nil {
		return nil, cli.Errorf(cli.Usage, record.ModeHint, "%w", err)
	}
	w := &writer{sys: sys, mode: mode, max: c.MaxLine, explain: c.Explain, out: record.NewWriter(sys.Records())}
	if w.cwd, err = directory(sys, c.Cwd); err != nil {
		return nil, err
	}
	w.cwdGiven = c.Cwd != ""
	home := sys.Getenv("HOME")
	if !filepath.IsAbs(home) {
		home = ""
	}
	options := facts.Options{
		Home: home, State: stateFolder(sys), Git: gitOptions(sys, home), Programs: programDirs(sys),
		Profile: c.Profile, Tool: c.Tool, Grants: c.Grant,
	}
	if options.Ceiling, err = ceilingOf(); err != nil {
		return nil, err
	}
	if c.Config != "" {
		options.Config = absolute(sys, c.Config)
	}
	newAnalyst := func() (*analyst, error) {
		o := options
		m := &memory{Memory: trust.New(sys.Getenv), origins: origin.New(sys.Getenv)}
		o.Trust, o.Origins = m, m
		deriver, err := facts.New(o)
		return &analyst{deriver, m}, err
	}
	if w.analyst, err = newAnalyst(); err != nil {
		hint := catalog.KnownProfile(c.Profile)
		if strings.HasPrefix(err.Error(), "grant ") {
			hint = "docs/facts.md lists what --grant takes"
		}
		return nil, cli.Errorf(cli.Usage, hint, "%w", err)
	}
	w.another = func() *analyst {
		n, _ := newAnalyst() // cannot fail: the options were accepted above
		return n
	}
	return w, nil
}

// gitOptions returns the location of the user's git configuration. It ignores the variables that
// redirect git (GIT_DIR and the like), because they would let the caller's environment select the
// repository that the facts describe.
func gitOptions(sys *cli.System, home string) gitrepo.Options {
	all := gitrepo.FromEnviron(sys.Getenv)
	all.Home, all.GitDir, all.WorkTree, all.CommonDir = home, "", "", ""
	return all
}

// programDirs returns the directories from which ethos's programs are started: that of this
// program, and those of PATH.
func programDirs(sys *cli.System) []string {
	dirs := filepath.SplitList(sys.Getenv("PATH"))
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
	}
	return dirs
}

// stateFolder returns the folder with trust decisions, or "" if the environment names none.
func stateFolder(sys *cli.System) string {
	dir, err := statedir.Dir(sys.Getenv)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func directory(sys *cli.System, dir string) (string, error) {
	if dir == "" {
		return sys.Dir, nil
	}
	abs := absolute(sys, dir)
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return "", cli.Errorf(cli.Usage, "name a directory that exists", "--cwd %s: %w", dir, err)
	}
	return abs, nil
}

func absolute(sys *cli.System, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(sys.Dir, name)
}

func valid(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !utf8.ValidString(w) })
}
