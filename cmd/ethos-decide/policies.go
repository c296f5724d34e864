package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/ceiling"
	"ethos/pkg/cli"
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// consumerFile is the consumer's policy file in the root of a work space.
const consumerFile = "coding_ethos.yml"

// maxSets limits the workspaces whose policies are held at once.
const maxSets = 32

// policyFlags select the policies that decide.
type policyFlags struct {
	Policy []string      `type:"path" sep:"none" placeholder:"FILE|DIR" help:"Load the policies of a file, or of every YAML file in a directory."`
	Pack   []string      `placeholder:"NAME" sep:"none" help:"Load a shipped pack in addition to core."`
	bounds policy.Bounds // of each evaluation; other than the default only in tests
}

// library finds the policies for a workspace and caches them.
type library struct {
	flags policyFlags
	given []policy.Source  // from the administrator, then from --policy; read once
	limit *ceiling.Ceiling // of the machine; nil for none
	files []ceiling.File   // the files that define it
	ready bool
	// unproven skips the examples in the consumer's policies; check reports them itself.
	unproven bool
	sets     map[string]*policy.Set
	memory   *trust.Memory
	failed   error           // why the memory could not be read
	told     map[string]bool // files already reported as untrusted or unreadable
	misnamed []string        // files of the workspace that are ignored because of their names
}

func newLibrary(flags policyFlags, sys *cli.System) *library {
	return &library{flags: flags, sets: map[string]*policy.Set{}, told: map[string]bool{}, memory: trust.New(sys.Getenv)}
}

// said marks files as reported.
func (l *library) said(files []string) {
	for _, file := range files {
		l.told[file] = true
	}
}

// set loads the policies that decide in a workspace: the shipped packs, those of implied, --policy,
// and the workspace's own file.
func (l *library) set(workspace string, implied ...string) (*policy.Set, error) {
	key := workspace + "\x00" + strings.Join(implied, "\x00")
	if known := l.sets[key]; known != nil {
		return known, nil
	}
	sources, err := l.sources(workspace)
	if err != nil {
		return nil, badPolicy(err)
	}
	set, err := policy.Load(policy.Options{Packs: append(slices.Clone(l.flags.Pack), implied...), Sources: sources, Bounds: l.flags.bounds, Ceiling: l.digest()})
	if err == nil && len(sources) > 0 && !l.unproven {
		err = prove(set, sources, workspace)
	}
	if err != nil {
		return nil, badPolicy(err)
	}
	if len(l.sets) >= maxSets {
		clear(l.sets)
	}
	l.sets[key] = set
	return set, nil
}

// needs reports whether a workspace needs an action proven.
func (l *library) needs(in *policy.Input) bool {
	if in.Action.Kind != record.KindExec && in.Action.Kind != record.KindShell {
		return false
	}
	set, err := l.set(in.Action.Workspace, implied(in.Actor)...)
	return err == nil && set.Proofs().Asks(in.Action)
}

func (l *library) sources(workspace string) ([]policy.Source, error) {
	if !l.ready {
		if err := l.administrator(); err != nil {
			return nil, err
		}
		for _, path := range l.flags.Policy {
			found, err := readPolicies(path)
			if err != nil {
				return nil, err
			}
			l.given = append(l.given, found...)
		}
		l.ready = true
	}
	if workspace == "" {
		return l.given, nil
	}
	l.misnamed = misnamedIn(workspace)
	sources := slices.Clone(l.given)
	for i, path := range append([]string{filepath.Join(workspace, consumerFile)}, trust.Around(workspace, consumerFile)...) {
		source, err := l.consumer(path, i > 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, cli.Errorf(cli.BadInput, "put a file that you can read in its place, or remove it, in a shell of your own; nothing was decided", "read policies: %w", err)
		case !slices.ContainsFunc(sources, func(have policy.Source) bool { return have.Name == source.Name }):
			sources = append(sources, source)
		}
	}
	return sources, nil
}

// administrator reads the configuration of the machine's administrator.
func (l *library) administrator() error {
	files, err := ceiling.Read()
	if err == nil {
		l.limit, err = catalog.ParseCeiling(files)
	}
	if err != nil {
		return err
	}
	l.files, l.given = files, administrators(files)
	return nil
}

// administrators returns the policies among the administrator's files.
func administrators(files []ceiling.File) (list []policy.Source) {
	for _, f := range files {
		if filepath.Base(filepath.Dir(f.Name)) == ceiling.Policies {
			list = append(list, policy.Source{Name: f.Name, Text: f.Text, Ceiling: true})
		}
	}
	return list
}

// digest returns the digest of the ceiling, or "" if there is none.
func (l *library) digest() string {
	if l.limit == nil {
		return ""
	}
	return l.limit.Digest
}

// misnamedIn lists the files in a workspace whose names resemble those that are read.
func misnamedIn(workspace string) (files []string) {
	for _, name := range []string{"coding_ethos.yaml", "repo_config.yml"} {
		if _, err := os.Lstat(filepath.Join(workspace, name)); err == nil {
			files = append(files, filepath.Join(workspace, name))
		}
	}
	return files
}

// unread says that a file has no effect, and what its name should be.
func unread(file string) string {
	want := capability.ConfigName
	if strings.HasPrefix(filepath.Base(file), "coding") {
		want = consumerFile
	}
	return printable.Line(file) + " is not read and has no effect: its name must be " + want
}

// consumer reads the policy file of a workspace, or of a work tree around it.
func (l *library) consumer(path string, around bool) (policy.Source, error) {
	name, err := trust.Canonical(path)
	if err != nil {
		return policy.Source{}, err
	}
	last, failed := l.memory.Load(trust.Configuration, name)
	if failed != nil && !errors.Is(failed, fs.ErrNotExist) {
		l.failed = failed
	}
	text, err := trust.ReadFile(path, filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) && failed == nil && !around {
		return policy.Source{Name: name, Text: []byte("version: 1"), Last: last.Text}, nil // a trusted file is gone
	}
	if err != nil {
		return policy.Source{}, err
	}
	source := policy.Source{Name: name, Text: text, Around: around, Digest: trust.Digest(text)}
	if source.Trusted = failed == nil && last.Digest == source.Digest; failed == nil && !source.Trusted {
		source.Last = last.Text
	}
	return source, nil
}

// readPolicies reads a file, or all YAML files in a directory, by name.
func readPolicies(path string) ([]policy.Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = yamlFiles(path); err != nil {
			return nil, err
		}
	}
	var sources []policy.Source
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read policies: %w", err)
		}
		sources = append(sources, policy.Source{Name: name, Text: text, Trusted: true}) // the user names it
	}
	return sources, nil
}

func yamlFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yml" || ext == ".yaml") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("read policies: %s has no .yml or .yaml file", dir)
	}
	return names, nil
}

// badPolicy returns the error that ends the program: without its policies it must allow nothing.
func badPolicy(err error) error {
	hint := "check --pack and --policy; nothing was decided"
	var told *cli.Error
	switch {
	case errors.As(err, &told):
		return err
	case policy.IsFault(err):
		hint = "fix the file, then run ethos-decide check; nothing was decided"
	}
	return &cli.Error{Status: cli.BadInput, Err: err, Hint: hint}
}
