package decide

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
	"ethos/pkg/policy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// ConsumerFile is the consumer's policy file in the root of a work space.
const ConsumerFile = trust.ConsumerFile

// maxSets limits the workspaces whose policies are held at once.
const maxSets = 32

// Options select the policies that decide beside those of the work space and of
// the administrator.
type Options struct {
	Policies []string      // files of policies, and directories of YAML files
	Packs    []string      // shipped packs in addition to core
	Bounds   policy.Bounds // of each evaluation
	Unproven bool          // skip the examples in the policies; the caller checks them
	Version  func() string // of the program, which notes of proven examples name
}

// Library finds the policies that decide in a work space and caches them. It is
// not safe for concurrent use.
type Library struct {
	Memory   *trust.Memory
	options  Options
	given    []policy.Source  // from the administrator, then from the options
	limit    *ceiling.Ceiling // of the machine; nil for none
	files    []ceiling.File   // the files that define it
	ready    bool             // given, limit and files were read
	sets     map[string]*policy.Set
	failed   error           // why the memory could not be read
	told     map[string]bool // files already reported as untrusted or unreadable
	misnamed []string        // files of the workspace that are ignored because of their names
}

// NewLibrary returns a library without any policies read. The memory knows
// which files a person has trusted.
func NewLibrary(o Options, memory *trust.Memory) *Library {
	return &Library{options: o, sets: map[string]*policy.Set{}, told: map[string]bool{}, Memory: memory}
}

// Set loads the policies that decide in a workspace: the shipped packs, those
// of implied, those of the options, the administrator's, and the workspace's
// own file. The error is an [*Error].
func (l *Library) Set(workspace string, implied ...string) (*policy.Set, error) {
	key := workspace + "\x00" + strings.Join(implied, "\x00")
	if known := l.sets[key]; known != nil {
		return known, nil
	}
	sources, err := l.sources(workspace)
	if err != nil {
		return nil, ErrorOf(err)
	}
	set, err := policy.Load(policy.Options{Packs: append(slices.Clone(l.options.Packs), implied...), Sources: sources, Bounds: l.options.Bounds, Ceiling: l.digest()})
	if err == nil && len(sources) > 0 && !l.options.Unproven {
		err = prove(set, sources, workspace, l.options.Version)
	}
	if err != nil {
		return nil, ErrorOf(err)
	}
	if len(l.sets) >= maxSets {
		clear(l.sets)
	}
	l.sets[key] = set
	return set, nil
}

// NeedsProof reports whether a workspace needs an action proven.
func (l *Library) NeedsProof(in *policy.Input) bool {
	if in.Action.Kind != record.KindExec && in.Action.Kind != record.KindShell {
		return false
	}
	set, err := l.Set(in.Action.Workspace, implied(in.Actor)...)
	return err == nil && set.Proofs().Asks(in.Action)
}

// Ceiling returns the limits that the machine's administrator sets, nil for
// none, and the files that define them. The error is an [*Error].
func (l *Library) Ceiling() (*ceiling.Ceiling, []ceiling.File, error) {
	err := l.read()
	return l.limit, l.files, ErrorOf(err)
}

// read reads, once, what does not depend on the work space.
func (l *Library) read() error {
	if l.ready {
		return nil
	}
	if err := l.administrator(); err != nil {
		return err
	}
	for _, path := range l.options.Policies {
		found, err := readPolicies(path)
		if err != nil {
			return err
		}
		l.given = append(l.given, found...)
	}
	l.ready = true
	return nil
}

func (l *Library) sources(workspace string) ([]policy.Source, error) {
	if err := l.read(); err != nil {
		return nil, err
	}
	if workspace == "" {
		return l.given, nil
	}
	l.misnamed = misnamedIn(workspace)
	sources := slices.Clone(l.given)
	for i, path := range append([]string{filepath.Join(workspace, ConsumerFile)}, trust.Around(workspace, ConsumerFile)...) {
		source, err := l.consumer(path, i > 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, errorf("put a file that you can read in its place, or remove it, in a shell of your own; nothing was decided", "read policies: %w", err)
		case !slices.ContainsFunc(sources, func(have policy.Source) bool { return have.Name == source.Name }):
			sources = append(sources, source)
		}
	}
	return sources, nil
}

// administrator reads the configuration of the machine's administrator.
func (l *Library) administrator() error {
	files, err := ceiling.Read()
	if err == nil {
		l.limit, err = catalog.ParseCeiling(files)
	}
	if err != nil {
		return err
	}
	l.files, l.given = files, Administrators(files)
	return nil
}

// Administrators returns the policies among the administrator's files.
func Administrators(files []ceiling.File) (list []policy.Source) {
	for _, f := range files {
		if filepath.Base(filepath.Dir(f.Name)) == ceiling.Policies {
			list = append(list, policy.Source{Name: f.Name, Text: f.Text, Ceiling: true})
		}
	}
	return list
}

// digest returns the digest of the ceiling, or "" if there is none.
func (l *Library) digest() string {
	if l.limit == nil {
		return ""
	}
	return l.limit.Digest
}

// misnamedIn lists the files in a workspace whose names resemble those that are
// read.
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
		want = ConsumerFile
	}
	return printable.Line(file) + " is not read and has no effect: its name must be " + want
}

// consumer reads the policy file of a workspace, or of a work tree around it.
func (l *Library) consumer(path string, around bool) (policy.Source, error) {
	name, err := trust.Canonical(path)
	if err != nil {
		return policy.Source{}, err
	}
	last, failed := l.Memory.Load(trust.Configuration, name)
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
