package committed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/facts"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
)

// Check derives the facts of a recorded action again and compares them with the recorded ones. The
// files are those of the revision, at the place of the action's work space. home is the home
// directory of the person who ran it, or "".
//
// Compared are the commands, what they read and write, the calls of git and of ethos, the services,
// the tool, the configuration file of the commit, and what a capability would be wider than. Not
// compared, because another machine does not know it: the repository's branch, remotes and
// configuration, uncommitted work that git would lose, where links outside of the commit lead, which
// other files exist, and where a file came from. What narrows the capabilities may be unknown here
// as well: an outer work tree, or the ceiling of the machine.
//
// The error names the fact that differs.
func Check(l *record.Line, revision *gitrepo.Revision, home string) error {
	var action record.Action
	var actor record.Actor
	var said record.Facts
	if err := errors.Join(l.Decode("action", &action), l.Decode("actor", &actor), l.Decode("facts", &said)); err != nil {
		return err
	}
	if !path.IsAbs(action.Workspace) || !path.IsAbs(action.Cwd) || home != "" && !path.IsAbs(home) {
		return errors.New("it was in a directory that is not absolute")
	}
	files, err := newTree(revision, action.Workspace)
	if err != nil {
		return err
	}
	options := optionsOf(said)
	options.Tree, options.Home = files, home
	options.Open = func(dir string, _ gitrepo.Options) (*gitrepo.Repository, error) {
		return repository(files, said.Repo, dir), nil
	}
	d, err := facts.New(options)
	if err != nil {
		return err
	}
	own, err := d.Derive(action, actor)
	if err != nil {
		return err
	}
	return compare(said, own, files, capability.Space{Workspace: action.Workspace, Home: home})
}

// optionsOf returns the options that the facts name as the source of capabilities, and the trust
// that they record.
func optionsOf(f record.Facts) (o facts.Options) {
	for _, source := range f.Capabilities.GrantedBy {
		flag, value, _ := strings.Cut(source, " ")
		switch flag {
		case "--profile":
			o.Profile = value
		case "--tool":
			o.Tool = value
		case "--grant":
			o.Grants = append(o.Grants, value)
		}
	}
	o.Trust = recordedTrust(f.Repo.Configuration)
	return o
}

// recordedTrust is the trust that a record says a person had. It implements [facts.Trust].
type recordedTrust []record.Configuration

// Trusted implements [facts.Trust].
func (t recordedTrust) Trusted(file, digest string) (bool, error) {
	return slices.ContainsFunc(t, func(c record.Configuration) bool { return c.Trusted && c.Path == file && c.Digest == digest }), nil
}

// repository returns what a record says of the repository around a directory. Nothing is read at
// the places that the record names.
func repository(files *tree, said record.Repo, dir string) *gitrepo.Repository {
	r := &gitrepo.Repository{Config: &gitrepo.Config{}}
	if dir == files.root || strings.HasPrefix(dir, files.root+"/") {
		r.Record = said
		r.Record.GitDir, r.Record.CommonDir, r.Record.Config, r.Record.Configuration = "", "", "", nil
	}
	return r
}

// compare compares recorded facts with derived ones.
func compare(said, own record.Facts, files *tree, space capability.Space) error {
	for _, f := range []struct {
		name      string
		said, own any
	}{
		{"shell", shellOf(said.Shell), shellOf(own.Shell)},
		{"git", gitOf(said.Git), gitOf(own.Git)},
		{"ethos", said.Ethos, own.Ethos},
		{"services", said.Services, own.Services},
		{"tool", said.Tool, own.Tool},
		{"repo.configuration", configurationOf(said.Repo, files), configurationOf(own.Repo, files)},
	} {
		a, err := json.Marshal(f.said)
		b, err2 := json.Marshal(f.own)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if !bytes.Equal(a, b) {
			return differs(f.name)
		}
	}
	for _, f := range own.Files {
		if !slices.ContainsFunc(said.Files, func(s record.File) bool { return sameFile(s, f) }) {
			return differs("files: " + f.Op + " " + f.Path)
		}
	}
	for _, code := range own.Incomplete {
		if ofAction(code) && !slices.Contains(said.Incomplete, code) {
			return differs("incomplete: " + code)
		}
	}
	if more := capability.Widens(space, own.Capabilities, said.Capabilities); len(more) > 0 {
		return differs("capabilities." + more[0].String())
	}
	return nil
}

// ErrDiffer is wrapped by the error of [Check] when the facts differ.
var ErrDiffer = errors.New("its facts do not follow from its action and the commit")

func differs(what string) error { return fmt.Errorf("%w: facts.%s", ErrDiffer, what) }

// shellOf returns an analysis without what depends on links outside of the commit.
func shellOf(s record.Shell) record.Shell {
	s.Reads, s.Writes = slices.Clone(s.Reads), slices.Clone(s.Writes)
	for _, list := range [][]record.PathUse{s.Reads, s.Writes} {
		for i := range list {
			list[i].Outside = false
		}
	}
	return s
}

// gitOf returns the git calls without what depends on the repository's state and configuration.
func gitOf(calls []record.Git) []record.Git {
	calls = slices.Clone(calls)
	for i := range calls {
		g := &calls[i]
		g.Loses, g.Refspecs, g.Remote, g.BranchTargets = nil, nil, "", nil
		g.Config = slices.DeleteFunc(slices.Clone(g.Config), func(c record.GitConfig) bool { return strings.HasPrefix(c.Via, "GIT_CONFIG") })
	}
	return calls
}

// configurationOf returns the configuration file of the work space itself, which the commit has.
func configurationOf(r record.Repo, files *tree) (list []record.Configuration) {
	for _, c := range r.Configuration {
		if path.Dir(c.Path) == files.root {
			list = append(list, c)
		}
	}
	return list
}

// sameFile reports whether a recorded file is a derived one. If the commit does not have the file,
// only its name is known here.
func sameFile(said, own record.File) bool {
	if !own.Exists {
		return said.Op == own.Op && said.Path == own.Path
	}
	said.Origin, said.Outside, own.Outside = nil, false, false
	return said == own
}

// ofAction reports whether a code of [record.Facts.Incomplete] follows from the action alone.
func ofAction(code string) bool {
	switch code {
	case record.IncompleteParse, record.IncompleteUnresolved, record.IncompleteDepth, record.IncompleteSize, record.IncompleteOpaque, record.IncompleteNotUTF8, record.IncompleteUnknownTool:
		return true
	}
	return false
}
