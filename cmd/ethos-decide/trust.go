//go:build !nocel

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/cli"
	"ethos/pkg/decide"
	"ethos/pkg/facts"
	"ethos/pkg/origin"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trace"
	"ethos/pkg/trust"
)

type trustCmd struct {
	Yes    bool     `help:"Trust without asking, for provisioning."`
	Digest string   `placeholder:"sha256:HEX" help:"Trust FILE without asking if its content has this digest; status 1 if not."`
	List   bool     `help:"List what is trusted, and whether it has changed since."`
	Revoke string   `placeholder:"FILE" help:"Stop trusting FILE; for a work tree, stop trusting what git may run there."`
	File   []string `arg:"" optional:"" name:"file" help:"Configuration files, or scripts that were written while the network was reachable. Default: repo_config.yaml and coding_ethos.yml of the work space."`
}

// Help implements kong.HelpProvider.
func (*trustCmd) Help() string {
	return `Shows what the configuration files of a work space widen, compared with what was last trusted, and asks on the terminal. Trust is for this
content of this file at this path; a change of the file ends it. What a file narrows applies without trust.

A script that an agent's command wrote while it could reach the network can be trusted, too: the policy code.from_network asks before such a script runs
unless a person has looked at its content.

Status 1: a file was not accepted, or has another digest; 2: there is no terminal to ask on; 3: a file is not valid;
4: what was trusted cannot be read or stored.`
}

func (c *trustCmd) Run(ctx context.Context, sys *cli.System) error {
	if trust.Inside() {
		return cli.Errorf(cli.NegativeStatus, "a person must run it outside of ethos-sandbox", "trust: a confined command cannot trust anything")
	}
	if err := c.check(); err != nil {
		return err
	}
	t := &truster{ctx: ctx, cmd: c, sys: sys, memory: trust.New(sys.Getenv)}
	switch {
	case c.List:
		return t.list()
	case c.Revoke != "":
		return t.revoke(c.Revoke)
	}
	return t.trust()
}

func (c *trustCmd) check() error {
	const usage = "ethos-decide trust [FILE…], --digest sha256:… FILE, --list, or --revoke FILE"
	given := 0
	for _, is := range []bool{c.Yes, c.Digest != "", c.List, c.Revoke != ""} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return cli.Errorf(cli.Usage, usage, "--yes, --digest, --list and --revoke exclude each other")
	case c.Digest != "" && len(c.File) != 1:
		return cli.Errorf(cli.Usage, usage, "--digest needs exactly one FILE")
	case (c.List || c.Revoke != "") && len(c.File) > 0:
		return cli.Errorf(cli.Usage, usage, "--list and --revoke take no FILE argument")
	}
	return nil
}

// truster holds the state of one run of the command.
type truster struct {
	ctx    context.Context
	cmd    *trustCmd
	sys    *cli.System
	memory *trust.Memory
}

// candidate is a file that may be trusted. The content shown is the content remembered, even if the
// file changes meanwhile.
type candidate struct {
	path, digest string
	text         []byte
	widens       []string
	proofs       bool // it requires proofs, which is remembered
	kind         string
}

func (t *truster) trust() error {
	files, err := t.files()
	if err != nil {
		return err
	}
	declined := false
	for _, file := range files {
		f, err := t.read(file)
		if err != nil {
			hint := "nothing in it is trusted; fix the file first"
			var fault *catalog.ConfigError
			switch {
			case errors.As(err, &fault) && fault.Hint != "":
				hint = fault.Hint + " (" + hint + ")"
			case !errors.Is(err, fs.ErrNotExist):
			case tellPutAside(t.ctx, t.sys, trace.WorkTree(filepath.Dir(file)), file):
				hint = "restore it first, if it is yours"
			default:
				hint = "create it first; without FILE, the existing files of the work space are used"
			}
			return &cli.Error{Status: cli.BadInput, Err: err, Hint: hint}
		}
		accepted, err := t.accept(f)
		if err != nil {
			return err
		}
		declined = declined || !accepted
	}
	if declined {
		return cli.Negative
	}
	return nil
}

// files returns the named files, else those in the workspace of the current directory.
func (t *truster) files() (files []string, err error) {
	for _, file := range t.cmd.File {
		if !filepath.IsAbs(file) {
			file = filepath.Join(t.sys.Dir, file)
		}
		if name := filepath.Base(file); name != capability.ConfigName && name != decide.ConsumerFile {
			from, err := t.origin(file)
			_, missing := os.Lstat(file)
			switch {
			case err != nil:
				return nil, unusable(err)
			case from == nil && missing != nil:
				return nil, cli.Errorf(cli.BadInput, "create it first; without FILE, the existing files of the work space are used", "%w", missing)
			case from == nil:
				return nil, cli.Errorf(cli.Usage, "a file that --config or --policy names needs no trust", "%s needs no trust: it is neither %s nor %s, and not known to be written by a run that could reach the network", file, capability.ConfigName, decide.ConsumerFile)
			}
		}
		files = append(files, file)
	}
	if len(files) > 0 {
		return files, nil
	}
	d, err := facts.New(facts.Options{})
	if err != nil {
		return nil, err
	}
	at, err := d.Place(record.Action{Kind: record.KindEvent, Cwd: t.sys.Dir})
	if err != nil {
		return nil, err
	}
	aside := false
	for _, name := range []string{capability.ConfigName, decide.ConsumerFile} {
		file := filepath.Join(at.Workspace, name)
		if _, err := os.Lstat(file); err == nil {
			files = append(files, file)
		} else if tellPutAside(t.ctx, t.sys, at.Workspace, file) {
			aside = true
		}
	}
	if len(files) == 0 && !aside {
		t.sys.Note(fmt.Sprintf("%s has no %s and no %s: there is nothing to trust", at.Workspace, capability.ConfigName, decide.ConsumerFile), "")
	}
	return files, nil
}

// origin returns the run with network access that wrote a file, or nil if none is known.
func (t *truster) origin(file string) (*origin.Run, error) {
	runs, err := origin.New(t.sys.Getenv).Runs()
	if err != nil {
		return nil, err
	}
	name := facts.Resolve(file)
	info, err := os.Lstat(name)
	if err != nil {
		return nil, nil // read reports why
	}
	return runs.Of(name, info, func() []byte {
		text, _ := trust.ReadFile(name, filepath.Dir(name))
		return text
	}), nil
}

// script reads a file that was written by a command with network access, and says how it came to
// be.
func (t *truster) script(file string) (candidate, error) {
	name := facts.Resolve(file)
	text, err := trust.ReadFile(name, filepath.Dir(name))
	if err != nil {
		return candidate{}, err
	}
	f := candidate{path: name, text: text, digest: trust.Digest(text), kind: trust.Script}
	from, err := t.origin(name)
	if err != nil {
		return f, err
	}
	if from == nil {
		return f, fmt.Errorf("%s has changed in the meantime", name)
	}
	said := "it was written while an agent's command could reach the network (" + from.Network + ")"
	if from.Action != "" {
		said += ": ethos-trace show " + from.Action
	}
	f.widens = []string{printable.Line(said)}
	return f, nil
}

// read reads a file once, and determines what it widens.
func (t *truster) read(file string) (candidate, error) {
	if name := filepath.Base(file); name != capability.ConfigName && name != decide.ConsumerFile {
		return t.script(file)
	}
	path, err := trust.Canonical(file)
	if err != nil {
		return candidate{}, err
	}
	text, err := trust.ReadFile(path, filepath.Dir(path))
	if err != nil {
		return candidate{}, err
	}
	f := candidate{path: path, text: text, digest: trust.Digest(text), kind: trust.Configuration}
	last, err := t.memory.Load(trust.Configuration, path)
	if err != nil { // accept reports it
		last = trust.Entry{}
	}
	f.widens, f.proofs, err = t.widens(path, text, last.Text)
	return f, err
}

// widens lists what the content of a file widens compared to the last trusted content, and reports
// whether it requires proofs.
func (t *truster) widens(path string, text, last []byte) (list []string, proofs bool, err error) {
	if filepath.Base(path) == decide.ConsumerFile {
		set, err := policy.Load(policy.Options{Packs: policy.Packs(), Sources: []policy.Source{{Name: path, Text: text, Trusted: true, Digest: trust.Digest(text), Last: last}}})
		if err != nil {
			return nil, false, err
		}
		return set.Configuration()[0].Widens, len(set.Proofs()) > 0, nil
	}
	config, err := catalog.ParseConfig(path, text)
	if err != nil {
		return nil, false, err
	}
	home := t.sys.Getenv("HOME")
	if !filepath.IsAbs(home) {
		home = ""
	}
	for _, w := range config.Widenings(catalog.WorkSpace{Space: capability.Space{Workspace: filepath.Dir(path), Home: home}, Resolve: facts.Resolve}) {
		list = append(list, w.String())
	}
	return list, false, nil
}

// accept trusts a file if it should be. The error concerns the memory, or says that there is nobody
// to ask.
func (t *truster) accept(f candidate) (bool, error) {
	last, err := t.memory.Load(f.kind, f.path)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, trust.ErrCorrupt): // treated as missing; it is written anew
		t.sys.Warn(err.Error(), "")
	default:
		return false, unusable(err)
	}
	switch {
	case t.cmd.Digest != "" && t.cmd.Digest != f.digest:
		return false, cli.Errorf(cli.NegativeStatus, "review the change, then use the new digest", "%s does not have the expected content: its digest is %s, not %s", f.path, f.digest, t.cmd.Digest)
	case err == nil && last.Digest == f.digest:
		return true, t.say(f, "is already trusted")
	case t.cmd.Digest != "" || t.cmd.Yes:
	case len(f.widens) == 0 && f.proofs: // from now on no change of the file removes them
	case len(f.widens) == 0:
		return true, t.say(f, "widens nothing, so it applies without trust")
	default:
		if yes, err := t.ask(f, last); err != nil || !yes {
			return false, err
		}
	}
	if err := t.memory.Save(trust.Entry{Kind: f.kind, Path: f.path, Text: f.text}, t.sys.Now()); err != nil {
		return false, unusable(err)
	}
	return true, t.say(f, "is trusted as "+f.digest)
}

func (t *truster) say(f candidate, what string) error {
	return t.sys.Printf("%s %s\n", f.path, what)
}

func unusable(err error) error {
	return &cli.Error{Status: cli.CannotEnforce, Err: err, Hint: "check ${XDG_STATE_HOME:-~/.local/state}/ethos, where trust is stored"}
}

// revoke removes the trust in one file, or in what git may run in one work tree.
func (t *truster) revoke(file string) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(t.sys.Dir, file)
	}
	kind, path := trust.Configuration, filepath.Clean(file)
	if canonical, err := trust.Canonical(file); err == nil {
		path = canonical
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		kind, path = trust.Git, facts.Resolve(path)
	}
	was, err := t.memory.Revoke(kind, path)
	if !was && err == nil && kind == trust.Configuration {
		was, err = t.memory.Revoke(trust.Script, facts.Resolve(path))
	}
	switch {
	case err != nil:
		return unusable(err)
	case !was:
		return cli.Errorf(cli.NegativeStatus, "ethos-decide trust --list shows what is trusted", "%s was not trusted", path)
	}
	return t.sys.Printf("%s is not trusted any more\n", path)
}

// list shows every entry, and whether the files are still as trusted.
func (t *truster) list() error {
	entries, bad, err := t.memory.List()
	if err != nil {
		return unusable(err)
	}
	for _, e := range entries {
		state := "in force"
		if e.Kind == trust.Configuration || e.Kind == trust.Script {
			switch text, err := trust.ReadFile(e.Path, filepath.Dir(e.Path)); {
			case err != nil:
				state = "gone"
			case trust.Digest(text) != e.Digest:
				state = "changed"
			}
		}
		if err := t.sys.Printf("%s  %-13s  %-8s  %s  %s\n", e.Time.Format(time.RFC3339), e.Kind, state, e.Digest, e.Path); err != nil {
			return err
		}
	}
	for _, err := range bad {
		t.sys.Warn(err.Error(), "remove the file")
	}
	if len(bad) > 0 {
		return cli.Negative
	}
	return nil
}
