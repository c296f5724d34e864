package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/outfile"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/sandbox/explain"
)

type learnCmd struct {
	boundary.Flags
	Out   string        `name:"out" short:"o" placeholder:"FILE" help:"Write the patch to this file. If the name ends in .yaml, create or extend that configuration instead."`
	Prove time.Duration `default:"2m" placeholder:"DURATION" help:"How long to search for the smallest set, by running the command again without network in views that are thrown away. 0: no search. Default: 2m."`
	Tight bool          `name:"tighten" help:"Run nothing: read the recorded runs of the work space, and report the parts of its configuration that none of them used."`
	Argv  cli.Argv      `arg:"" optional:"" passthrough:"" name:"argv" help:"The command and its arguments, after --."`
}

// learning is the state of learning for one command line.
type learning struct {
	*learnCmd
	sys     *cli.System
	answers *bufio.Reader // of the user; nil if nobody is asked
	given   []record.Denial
	asked   map[string]bool
	passed  bool
	first   sandbox.Spec // before anything was granted
	proved  bool
}

// maxRounds limits the runs of the command.
const maxRounds = 20

// Run runs the command confined and observed, asks about each group of
// refusals, and runs the command again with what was granted, until it passes
// or nothing new is refused. If nobody can be asked, it runs the command once.
// The status is 1 if the command did not pass.
func (c *learnCmd) Run(ctx context.Context, sys *cli.System) error {
	if c.Out != "" {
		if err := outfile.Check(c.Out); err != nil {
			return cli.Errorf(cli.BadInput, "name a writable file", "-o: %w", err)
		}
	}
	if c.Tight {
		return c.tighten(ctx, sys)
	}
	argv, err := behindDashes(c.Argv, cli.Usage)
	if err != nil {
		return err
	}
	if len(argv) == 0 {
		return cli.Errorf(cli.Usage, "write the command after --: ethos-sandbox learn -- make test", "no command was given")
	}
	l := &learning{learnCmd: c, sys: sys}
	if f, ok := sys.Stdin.(*os.File); ok && cli.IsTerminal(f) {
		l.answers = bufio.NewReader(sys.Stdin)
	}
	if l.Net == "" && l.Profile == "" && len(l.AllowDomain) == 0 && l.mayNet("proxy") {
		l.Net = "proxy" // no name is allowed, and each requested name is reported
	}
	var workspace string
	for range maxRounds {
		plan, denials, err := l.once(ctx)
		if err != nil {
			return err
		}
		workspace = plan.Workspace
		if l.passed || !l.grant(denials) || l.answers == nil {
			break
		}
	}
	l.prove(ctx)
	if err := l.patch(workspace); err != nil {
		return err
	}
	if !l.passed {
		return cli.Negative
	}
	return nil
}

// mayNet reports whether the machine's ceiling allows a network mode. What nobody asked for must not
// be refused.
func (l *learning) mayNet(mode string) bool {
	c, err := sandbox.HostFiles{}.Ceiling()
	if err != nil || c == nil {
		return true // planning reports the error
	}
	_, past := c.Capabilities.Below(capability.Space{Workspace: l.sys.Dir, Home: l.sys.Getenv("HOME")}, capability.Set{Network: record.Network{Mode: mode}})
	return !slices.ContainsFunc(past, func(e capability.Excess) bool { return e.Field == "network.mode" })
}

// once runs the command. Its output goes to standard error, so that it does not
// mix with the patch.
func (l *learning) once(ctx context.Context) (*sandbox.Plan, []record.Denial, error) {
	spec, err := specNow(l.sys, &l.Flags, l.Argv.Words())
	if err != nil {
		return nil, nil, err
	}
	spec.Explain, spec.CloseStdin = true, true
	if l.asked == nil {
		l.asked, l.first = map[string]bool{}, spec
	}
	plan, err := build(l.sys, spec, cli.Refused)
	if err != nil {
		return nil, nil, err
	}
	own, err := streams(l.sys)
	if err != nil {
		return nil, nil, err
	}
	out, err := sandbox.Run(ctx, plan, sandbox.IO{Stdin: own.Stdin, Stdout: own.Stderr, Stderr: own.Stderr})
	sandbox.Release()
	if err != nil {
		return nil, nil, refused(err, cli.Refused)
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, nil, cause
	}
	l.passed = out.Status == record.StatusExited && out.ExitCode == 0
	sandbox.Explain(plan, &out, sandbox.Failed{Argv: plan.Argv})
	return plan, out.Evidence.Denials, nil
}

// prove removes grants that the command does not need. If nobody was asked, it
// also grants what the command is refused after that.
func (l *learning) prove(ctx context.Context) {
	if l.Prove <= 0 || len(l.given) == 0 {
		return
	}
	r := smallest(ctx, l.sys, l.first, l.given, l.answers == nil, l.Prove)
	l.given, l.proved = r.Needed, r.Proved
	for _, d := range r.Unneeded {
		l.sys.Deny(d.What+": the command passes without it", "")
	}
}

// groups are the kinds of requests, in the order in which the user is asked.
var groups = []struct{ flag, title string }{
	{"--ro", "to read outside of the work space"}, {"--rw", "to write"}, {"--env-files", "to read secrets of the work space"}, {"--allow-domain", "to reach by name"}, {"--unix-socket", "to connect to"},
}

// grant asks about each group of refusals, and reports whether anything new was
// granted. If nobody is asked, all of it goes into the patch.
func (l *learning) grant(denials []record.Denial) (more bool) {
	for _, g := range groups {
		var list []record.Denial
		for _, d := range denials {
			if strings.HasPrefix(d.Remedy, g.flag+" ") && !l.asked[d.Remedy] && d.What != "an address outside" {
				list = append(list, d)
				l.asked[d.Remedy] = true
			}
		}
		if len(list) > 0 && l.yes(g.title, list) {
			for _, d := range list {
				l.take(g.flag, d)
			}
			more = true
		}
	}
	for _, d := range denials {
		if d.Remedy == "" && d.Kind != "" && !l.asked[d.What] {
			l.asked[d.What] = true
			l.sys.Deny(explained(d), "")
		}
	}
	return more
}

// yes shows a group and asks about it.
func (l *learning) yes(title string, list []record.Denial) bool {
	text := "the command wants " + title + ":"
	for _, d := range list {
		text += "\n" + d.What + " (" + cmp.Or(d.Process, record.Inferred) + ")"
	}
	if l.answers == nil {
		l.sys.Deny(text, "")
		return true
	}
	if !alone(l.sys) {
		return false
	}
	l.answers.Reset(l.sys.Stdin)
	l.sys.Deny(text, "y grants this and runs the command again; anything else refuses it [y/N]")
	line, err := l.answers.ReadString('\n')
	answer := strings.ToLower(strings.TrimSpace(line))
	return err == nil && (answer == "y" || answer == "yes")
}

// take adds a grant to the flags. A writable path need not be declared readable
// as well.
func (l *learning) take(flag string, d record.Denial) {
	if flag == "--env-files" {
		l.EnvFiles = "read"
		l.given = append(l.given, d)
		return
	}
	to := map[string]*[]string{"--ro": &l.Ro, "--rw": &l.Rw, "--allow-domain": &l.AllowDomain, "--unix-socket": &l.UnixSocket}[flag]
	value := cmp.Or(d.Path, d.What)
	*to = append(*to, value)
	covered := func(path string) bool { return path == value || strings.HasPrefix(path, value+"/") }
	if flag == "--rw" {
		l.Ro = slices.DeleteFunc(l.Ro, covered)
	}
	l.given = slices.DeleteFunc(l.given, func(o record.Denial) bool { return flag == "--rw" && covered(o.Path) })
	l.given = append(l.given, d)
}

// patch writes the grants: as a patch of repo_config.yaml as far as that can
// express them, and as flags for run.
func (l *learning) patch(workspace string) error {
	if len(l.given) == 0 {
		if l.passed {
			l.sys.Note("the command passes as it is: nothing has to be declared", "")
		} else {
			l.sys.Fail("found nothing that a declaration would allow", "the command's own messages say why it failed")
		}
		return nil
	}
	const name = "repo_config.yaml"
	var add []explain.Declared
	var flags []string
	for _, d := range l.given {
		flags = append(flags, d.Remedy)
		if key, path, ok := strings.Cut(strings.TrimSuffix(d.Declare, "]"), ": ["); ok {
			add = append(add, explain.Declared{Key: key, Path: path})
		} else if key, word, ok := strings.Cut(d.Declare, ": "); ok {
			add = append(add, explain.Declared{Key: key, Word: word})
		}
	}
	named, byHand := l.network(workspace)
	add = append(add, named...)
	say, verdict := l.sys.Warn, "was refused these, and may need more once it has them"
	if l.passed || l.proved {
		say, verdict = l.sys.Note, "passes with these"
	}
	say("the command "+verdict+": "+strings.Join(flags, " "), byHand)
	if len(add) == 0 {
		return nil
	}
	config, whole := filepath.Join(workspace, name), strings.HasSuffix(l.Out, ".yaml")
	if whole {
		config = l.Out
	}
	text, err := readConfig(config)
	if err != nil {
		return cli.Errorf(cli.BadInput, "make it a regular file that can be read", "%w", err)
	}
	changed, diff, ok := explain.Patch(name, text, add)
	if !ok {
		return cli.Errorf(cli.BadInput, "add by hand to what it has: "+printable.Line(explain.Flow(add)), "%s has its lists in a form that cannot be patched", config)
	}
	switch {
	case l.Out == "":
		l.sys.Warn("the patch widens what a command may do", "read it, apply it with git apply, and trust the file: ethos-decide trust "+name)
		return l.sys.Print(diff)
	case whole:
		l.sys.Warn(l.Out+" widens what a command may do", "read it, then trust it: ethos-decide trust "+printable.Word(l.Out))
		return outfile.Write(l.Out, changed)
	}
	return outfile.Write(l.Out, diff)
}

// network returns the configuration entries for the granted names: a name is
// listed with the tool that asks for it. If the catalog knows no tool, or the
// configuration already lists it, byHand says what the user has to do.
func (l *learning) network(workspace string) (add []explain.Declared, byHand string) {
	var names []string
	for _, d := range l.given {
		if name, ok := strings.CutPrefix(d.Remedy, "--allow-domain "); ok && d.Layer == record.LayerNetwork {
			names = append(names, strconv.Quote(name))
		}
	}
	if len(names) == 0 {
		return nil, ""
	}
	tools := networked(l.Argv.Words()[0])
	switch len(tools) {
	case 0:
		return nil, "the catalog has no tool for this command: pass the names as flags, or describe the tool under tools in repo_config.yaml"
	case 1:
	default:
		return nil, "add the names under sandbox.network_tools in repo_config.yaml, for one of the tools " + strings.Join(tools, ", ")
	}
	entry := "{tool: " + tools[0] + ", allow_domains: [" + strings.Join(names, ", ") + "]}"
	text, _ := readConfig(filepath.Join(workspace, capability.ConfigName)) // a read error is reported when the file is patched
	if strings.Contains(text, tools[0]) {
		return nil, capability.ConfigName + " has " + tools[0] + " already: add the names to its allow_domains, as in " + entry
	}
	return []explain.Declared{{Key: "network_tools", Path: entry}}, ""
}

// readConfig reads a configuration, "" if there is none. It follows no symbolic
// link, which could lead anywhere: the content of a workspace is not always the
// user's.
func readConfig(path string) (string, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
