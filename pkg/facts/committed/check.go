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

// Checker checks the facts of runs on one revision.
type Checker struct {
	files *tree
	home  string
}

// New lists the files of a revision at the place of the work space of its runs. home is the home
// directory of the person who ran them, or "".
func New(revision *gitrepo.Revision, workspace, home string) (*Checker, error) {
	for what, dir := range map[string]string{"work space": workspace, "home directory": home} {
		if (dir != "" || dir == workspace) && (!path.IsAbs(dir) || path.Clean(dir) != dir || len(dir) > maxPath) {
			return nil, fmt.Errorf("its %s, %.100q, is not a clean absolute path", what, dir)
		}
	}
	files, err := newTree(revision, workspace)
	return &Checker{files, home}, err
}

// Check derives the facts of a recorded action again and compares them with the recorded ones. The
// action is one in the root of the work space.
//
// Compared are the commands, what they read and write, the calls of git and of ethos, the services,
// the tool, the configuration file of the commit with its protected branches, and what a capability
// would be wider than. Not compared, because another machine does not know it: the repository's
// branch, remotes and configuration, uncommitted work that git would lose, where links outside of
// the commit lead, which other files exist, and where a file came from. What narrows the
// capabilities may be unknown here as well: an outer work tree, or the ceiling of the machine.
//
// The error names the fact that differs.
func (c *Checker) Check(l *record.Line) error {
	var action record.Action
	var actor record.Actor
	var said record.Facts
	if err := errors.Join(l.Decode("action", &action), l.Decode("actor", &actor), l.Decode("facts", &said)); err != nil {
		return err
	}
	if action.Workspace != c.files.root || action.Cwd != c.files.root {
		return fmt.Errorf("its action is one in %.100q, not in %s", action.Cwd, c.files.root)
	}
	options := optionsOf(said)
	options.Tree, options.Home = c.files, c.home
	options.Open = func(dir string, _ gitrepo.Options) (*gitrepo.Repository, error) {
		return repository(c.files, said.Repo, dir), nil
	}
	d, err := facts.New(options)
	if err != nil {
		return err
	}
	own, err := d.Derive(action, actor)
	if c.files.lacks != nil {
		return c.files.lacks
	}
	if err != nil {
		return err
	}
	return compare(said, own, c.files, capability.Space{Workspace: action.Workspace, Home: c.home})
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
	if dir == files.root || strings.HasPrefix(dir, strings.TrimSuffix(files.root, "/")+"/") {
		r.Record = said
		r.Record.GitDir, r.Record.CommonDir, r.Record.Config, r.Record.Configuration = "", "", "", nil
		r.Record.ProtectedBranches = slices.Clone(said.ProtectedBranches)
		for _, name := range gitrepo.ProtectedNames() {
			if !slices.Contains(said.ProtectedBranches, name) {
				r.Record.ProtectedBranches = append(r.Record.ProtectedBranches, name)
			}
		}
	}
	return r
}

// compare compares recorded facts with derived ones.
func compare(said, own record.Facts, files *tree, space capability.Space) error {
	said.Shell, own.Shell = unlinked(said.Shell), unlinked(own.Shell)
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
		{"repo.protected_branches", said.Repo.ProtectedBranches, own.Repo.ProtectedBranches},
		{"repo.config", configOf(said.Repo, own.Repo, files), own.Repo.Config},
		{"capabilities", said.Capabilities, capability.Derive(said.Capabilities)},
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
	for i := range own.Git {
		if !sameConfig(said.Git[i].Config, own.Git[i].Config) {
			return differs("git: config")
		}
	}
	if err := compareFiles(said, own, files); err != nil {
		return err
	}
	for _, code := range own.Incomplete {
		if ofAction(code) && !slices.Contains(said.Incomplete, code) {
			return differs("incomplete: " + code)
		}
	}
	for _, source := range said.Capabilities.GrantedBy {
		if !slices.Contains(own.Capabilities.GrantedBy, source) {
			return differs("capabilities.granted_by: " + source)
		}
	}
	if more := capability.Widens(space, own.Capabilities, said.Capabilities); len(more) > 0 {
		return differs("capabilities." + more[0].String())
	}
	if said.Capabilities.SandboxProfile != own.Capabilities.SandboxProfile && len(capability.Widens(space, said.Capabilities, own.Capabilities)) == 0 {
		return differs("capabilities.sandbox_profile") // nothing narrower is named
	}
	return nil
}

// ErrDiffer is wrapped by the error of [Checker.Check] when the facts differ.
var ErrDiffer = errors.New("its facts do not follow from its action and the commit")

func differs(what string) error { return fmt.Errorf("%w: facts.%s", ErrDiffer, what) }

// unlinked returns an analysis without where links lead, which compareFiles compares.
func unlinked(s record.Shell) record.Shell {
	linked := func(u record.PathUse) bool { return u.ViaSymlink }
	s.Reads = slices.DeleteFunc(slices.Clone(s.Reads), linked)
	s.Writes = slices.DeleteFunc(slices.Clone(s.Writes), linked)
	return s
}

// shellOf returns an analysis without what depends on links outside of the commit; compareFiles
// compares it.
func shellOf(s record.Shell) record.Shell {
	s.Reads, s.Writes = slices.Clone(s.Reads), slices.Clone(s.Writes)
	for _, list := range [][]record.PathUse{s.Reads, s.Writes} {
		for i := range list {
			list[i].Outside = false
		}
	}
	return s
}

// gitOf returns the git calls without what depends on uncommitted work and on the environment.
func gitOf(calls []record.Git) []record.Git {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].Loses, calls[i].Config = nil, nil
	}
	return calls
}

// sameConfig reports whether the recorded configuration of a call is the derived one. The
// environment of the other machine may have added to it.
func sameConfig(said, own []record.GitConfig) bool {
	for _, c := range said {
		switch {
		case len(own) > 0 && own[0] == c:
			own = own[1:]
		case !strings.HasPrefix(c.Via, "GIT_CONFIG"):
			return false
		}
	}
	return len(own) == 0
}

// configurationOf returns the configuration file of the work space itself, which the commit has.
func configurationOf(r record.Repo, files *tree) (list []record.Configuration) {
	for _, c := range r.Configuration {
		if path.Dir(path.Clean(c.Path)) == files.root {
			list = append(list, c)
		}
	}
	return list
}

// configOf returns the configuration file that a record names, or "" for one that the commit cannot
// have, if the commit has none.
func configOf(said, own record.Repo, files *tree) string {
	if own.Config == "" && path.Dir(path.Clean(said.Config)) != files.root {
		return ""
	}
	return said.Config
}

// compareFiles compares the files, and what the uses of paths say of them. What is recorded in
// addition can be a file that a pattern matched and the commit does not have.
func compareFiles(said, own record.Facts, files *tree) error {
	known := map[[2]string]record.File{}
	for _, f := range own.Files {
		known[[2]string{f.Op, f.Path}] = f
		if !slices.ContainsFunc(said.Files, func(s record.File) bool { return s.Op == f.Op && s.Path == f.Path }) {
			return differs("files: " + f.Op + " " + f.Path)
		}
	}
	outside := map[[2]string]bool{}
	for _, s := range said.Files {
		key := [2]string{s.Op, s.Path}
		f, derived := known[key]
		if !derived {
			_, err := files.find("lstat", s.Path, false)
			derived = !path.IsAbs(s.Path) || err == nil
			f = record.File{}
		} else if !sameFile(s, f, own.Shell) {
			f = record.File{}
		}
		if derived && f.Op == "" {
			return differs("files: " + s.Op + " " + s.Path)
		}
		if _, had := outside[key]; !had {
			outside[key] = s.Outside
		}
	}
	for i, list := range [][]record.PathUse{own.Shell.Reads, own.Shell.Writes} {
		for j, u := range list {
			want := u.Outside
			if is, named := outside[[2]string{u.Op, u.Path}]; named && u.Certain && u.Op != "read" {
				want = is
			}
			if [][]record.PathUse{said.Shell.Reads, said.Shell.Writes}[i][j].Outside != want {
				return differs("shell: " + u.Op + " " + u.Path)
			}
		}
	}
	return nil
}

// sameFile reports whether a recorded file is a derived one. If the commit does not have the file,
// its class can be worse than that of its name, and links can lead it elsewhere.
func sameFile(said, own record.File, uses record.Shell) bool {
	said.Origin = nil
	if own.Outside && !said.Outside && byGit(said, uses) {
		own.Outside = false // a new file beside the work space, or a linked work tree: only that machine knows
	}
	if own.Exists {
		return said == own
	}
	if !facts.Covers(said.Protected, own.Protected) || own.ViaSymlink && !said.ViaSymlink {
		return false
	}
	own.Exists, own.Protected = said.Exists, said.Protected
	return said == own || said.ViaSymlink && said.Op == own.Op && said.Path == own.Path
}

func byGit(f record.File, uses record.Shell) (git bool) {
	for _, u := range slices.Concat(uses.Reads, uses.Writes) {
		if u.Op == f.Op && u.Path == f.Path {
			if git = u.By == "git"; !git {
				return false
			}
		}
	}
	return git
}

// ofAction reports whether a code of [record.Facts.Incomplete] follows from the action and the
// commit alone.
func ofAction(code string) bool {
	switch code {
	case record.IncompleteParse, record.IncompleteUnresolved, record.IncompleteDepth, record.IncompleteSize, record.IncompleteOpaque, record.IncompleteNotUTF8, record.IncompleteUnknownTool, record.IncompleteFile, record.IncompleteGitTarget:
		return true
	}
	return false
}
