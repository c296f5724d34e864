package facts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/catalog"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// ErrUnknownTool is wrapped by the error of [Deriver.Derive] when Options.Tool is in no catalog.
var ErrUnknownTool = errors.New("no such tool")

// Options is what facts depend on besides the action. The zero value is the file system of this
// machine without a home directory.
type Options struct {
	Tree    Tree                // nil is [OS]
	Open    OpenRepo            // nil is [gitrepo.Open]
	Git     gitrepo.Options     // where git's configuration is
	Home    string              // absolute; "" leaves "~" unknown
	State   string              // the state folder of ethos, without symbolic links; absolute, or ""
	Env     []record.Assignment // the environment of an exec action; only variables that git reads matter
	Config  string              // replaces repo_config.yaml; trusted, because a person names it; absolute
	Trust   Trust               // nil trusts nothing
	Origins Origins             // nil knows no origin of a file
	Profile string              // replaces the profile that would be effective
	Tool    string              // treats the action as this tool, whatever it looks like
	// Programs are the directories from which programs are started: those of PATH, and that of the
	// running program.
	Programs []string
	Grants   []string            // see [capability.Grant]
	Ceiling  *capability.Written // upper bound of every action; nil is none
}

// Deriver derives facts. It caches repositories and configurations between actions.
type Deriver struct {
	opt     Options
	repos   repos
	configs configs
	// the programs of ethos, searched for when an action first changes a file
	programs *programs
}

// New checks the options. An unknown profile or grant is an error.
func New(o Options) (*Deriver, error) {
	if o.Tree == nil {
		o.Tree = OS{}
	}
	if o.Open == nil {
		o.Open = gitrepo.Open
	}
	o.Grants = homely(o.Grants, o.Home)
	if _, err := capability.Effective(capability.Repository{}, capability.Request{Profile: o.Profile, Grants: o.Grants}); err != nil {
		return nil, err
	}
	return &Deriver{
		opt:     o,
		repos:   repos{tree: o.Tree, open: o.Open, opt: o.Git},
		configs: configs{tree: o.Tree, file: o.Config},
	}, nil
}

// homely writes granted paths below the home directory with ~, because the list of paths that are
// never granted has them in that form.
func homely(grants []string, home string) []string {
	out := slices.Clone(grants)
	for i, g := range out {
		name, value, _ := strings.Cut(g, "=")
		if rest, ok := strings.CutPrefix(value, home+"/"); ok && home != "" && (name == "read" || name == "write") {
			out[i] = name + "=~/" + rest
		}
	}
	return out
}

// Place determines where an action takes place: the real directory of its Cwd, and its work space.
// The work space is the git work tree around the agent's own directory, or that directory itself if
// there is no work tree. The agent's directory is the Workspace of the action before Place, or Cwd
// if that is empty. A tool call chooses its Cwd, and so may choose a work tree within the work
// space, but never another work space. A directory that does not exist on this machine stays as it
// is.
func (d *Deriver) Place(a record.Action) (record.Action, error) {
	if a.Workspace == "" {
		a.Workspace = a.Cwd
	}
	for _, dir := range []string{a.Cwd, a.Workspace} {
		if !path.IsAbs(dir) {
			return a, fmt.Errorf("working directory %q is not absolute", dir)
		}
	}
	own := a.Workspace == a.Cwd
	at := resolve(d.opt.Tree, a.Cwd, false)
	if a.Workspace = path.Clean(a.Workspace); !at.exists || at.partial {
		return a, nil
	}
	a.Cwd = at.name
	from := at
	if !own {
		from = resolve(d.opt.Tree, a.Workspace, false)
	}
	if from.exists && !from.partial {
		a.Workspace = d.workspace(from)
	}
	if tree := d.workTree(at.name); tree != "" && within(tree, a.Workspace) {
		a.Workspace = tree
	}
	return a, nil
}

// work space returns the work space of an agent's own directory. A confined command may have
// replaced the directory in which the agent was started by a symbolic link; such a link leads to no
// other work space.
func (d *Deriver) workspace(at resolved) string {
	for _, dir := range at.links {
		tree := d.workTree(dir)
		if tree != "" && !within(at.name, tree) && !within(d.opt.Home, tree) {
			return tree
		}
	}
	return cmp.Or(d.workTree(at.name), at.name)
}

// workTree returns the git work tree around a directory, or "".
func (d *Deriver) workTree(dir string) string {
	if root := d.repos.at(dir).Record.Root; d.encloses(root, dir) {
		return root
	}
	return ""
}

// encloses reports whether root is a work tree around dir. core.worktree of a repository inside the
// tree can name any directory, so root counts only if it has a .git of its own.
func (d *Deriver) encloses(root, dir string) bool {
	if root == "" || !within(dir, root) {
		return false
	}
	_, err := d.opt.Tree.Lstat(path.Join(root, ".git"))
	return err == nil
}

// Derive returns the facts of an action that [Deriver.Place] has returned. The error is a
// [*catalog.ConfigError] for an invalid configuration, [ErrUnknownTool], or the error of reading
// the configuration.
func (d *Deriver) Derive(a record.Action, actor record.Actor) (record.Facts, error) {
	cfg, err := d.effective(a.Workspace)
	if err != nil {
		return record.Facts{}, err
	}
	w := &work{d: d, action: a, config: cfg, repo: d.repos.at(a.Cwd), lacks: &lacks{}}
	w.place = place{workspace: a.Workspace, home: d.opt.Home, state: d.opt.State, gitDir: w.repo.Record.GitDir, gitCover: w.repo.Record.CommonDir}
	w.files = newFileFacts(d, w.place, w.lacks)
	w.analyse()
	f := record.Facts{Shell: w.shell, Git: w.git, Files: w.files.files, Repo: w.repoFact()}
	if f.Tool, f.Capabilities, err = w.capabilities(actor); err != nil {
		return record.Facts{}, err
	}
	if f.Ethos, err = w.ethos(actor, f.Capabilities); err != nil {
		return record.Facts{}, err
	}
	f.Services = w.services()
	f.Incomplete = w.lacks.codes
	return f, nil
}

// work is the state of deriving the facts of one action.
type work struct {
	d      *Deriver
	action record.Action
	config *effective
	repo   *repo
	place  place
	lacks  *lacks
	files  *fileFacts
	shell  record.Shell
	git    []record.Git
	calls  []shell.EthosCall
	// the analyses of the script, and of the code that git runs for it
	analyses []shell.Analysis
}

// analyse analyses the command and resolves the files that it names.
func (w *work) analyse() {
	if w.repo.err != nil {
		w.lacks.add(record.IncompleteGitRepo)
	}
	opt := shell.Options{Cwd: w.action.Cwd, Workspace: w.action.Workspace, Home: w.d.opt.Home, Temporary: "/tmp", Git: w.repo.context(&lacks{})}
	opt.Git.Env, opt.List = w.d.opt.Env, w.list
	switch w.action.Kind {
	case record.KindExec:
		w.commands(shell.AnalyzeArgv(w.action.Argv, opt), opt)
	case record.KindShell:
		w.commands(shell.Analyze(w.action.Script, opt), opt)
	case record.KindFile:
		w.files.action(w.action.File, w.action.Cwd)
	case record.KindMCP:
		w.files.toolPaths(&w.action)
	}
	w.origins(w.analyses)
}

// maxList is the size limit of a list of names in bytes.
const maxList = 64 << 10

// list reads a list of names for package shell.
func (w *work) list(name string) (string, bool) {
	text, err := w.d.opt.Tree.ReadFile(name, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return "", true
	}
	return string(text), err == nil
}

// commands takes over the results of the shell analysis, and has the git commands analysed.
func (w *work) commands(a shell.Analysis, opt shell.Options) {
	w.shell = a.Shell
	w.lacks.add(a.Incomplete...)
	w.calls = a.Ethos
	w.analyses = append(w.analyses, a)
	g := gitWork{work: w, opt: opt}
	g.read(a)
	w.git = g.found
	w.paths(w.shell.Reads, slices.Concat(a.Reads, g.reads))
	w.paths(w.shell.Writes, slices.Concat(a.Writes, g.writes))
	w.shell.Reads = w.followed(w.shell.Reads)
	w.shell.Writes = w.followed(w.shell.Writes)
}

// paths resolves the paths that a command reads or writes; abs is parallel to uses. It skips a path
// of which no part is known.
func (w *work) paths(uses []record.PathUse, abs []string) {
	for i, u := range uses {
		if abs[i] != "" || u.Certain {
			w.files.add(u.Op, u.Path, abs[i], true)
			w.into(u, abs[i])
			w.below(u)
			if w.gitMayChange(u, uses) {
				w.files.inside(u)
			}
		}
		if u.Op != "read" {
			uses[i].Outside = w.place.outsideUse(u, w.files.files)
		}
	}
}

func (w *work) repoFact() record.Repo {
	out := w.repo.Record
	out.ProtectedBranches = slices.Clone(out.ProtectedBranches)
	for _, b := range w.config.ProtectedBranches {
		if !slices.Contains(out.ProtectedBranches, b) {
			out.ProtectedBranches = append(out.ProtectedBranches, b)
		}
	}
	out.Config, out.Configuration = w.config.file, w.config.files
	return out
}

// request returns what determines the capabilities of the action, whatever tool it is.
func (w *work) request(actor record.Actor) capability.Request {
	r := capability.Request{
		Agent: actor.Agent != "", Mode: actor.Bounded().Mode, Profile: w.d.opt.Profile, Grants: w.d.opt.Grants,
		Space: capability.Space{Workspace: w.action.Workspace, Home: w.d.opt.Home}, Ceiling: w.d.opt.Ceiling,
	}
	if actor.Parent != nil {
		r.Parent = actor.Parent.Capabilities
	}
	return r
}

// capabilities determines which tool the action is, and its effective capabilities. If untrusted
// files define tools, these are the capabilities that the action has both with and without these
// definitions.
func (w *work) capabilities(actor record.Actor) (record.Tool, record.Capabilities, error) {
	fact := record.Tool{Capabilities: capability.Clone(record.Capabilities{})}
	m, c, err := w.effective(actor, w.config.catalog)
	if err != nil {
		return fact, c, err
	}
	for _, other := range w.config.defined {
		_, with, err := w.effective(actor, other)
		if err != nil {
			return fact, c, err
		}
		c = capability.Meet(w.request(actor).Space, c, with)
	}
	if m.tool != nil {
		fact = catalog.Fact(*m.tool, m.form)
	}
	return fact, c, nil
}

// effective returns the effective capabilities of an action that is matched against one catalog;
// --tool overrides the match.
func (w *work) effective(actor record.Actor, from *catalog.Catalog) (match, record.Capabilities, error) {
	m, r := w.match(from), w.request(actor)
	r.Parts = m.parts
	if name := w.d.opt.Tool; name != "" {
		t, ok := from.Tool(name)
		if !ok {
			return m, record.Capabilities{}, w.unknownTool(name)
		}
		if m.tool == nil || m.tool.ID != t.ID {
			m = match{tool: &t, form: t.Forms[0]}
			r.Parts = nil
		}
		m.sole, r.ToolNamed = true, true
	}
	if m.sole {
		r = catalog.Ask(r, m.tool)
	}
	c, err := capability.Effective(w.config.Repository, r)
	return m, c, err
}

func (w *work) unknownTool(name string) error {
	for _, other := range w.config.defined {
		if _, ok := other.Tool(name); ok {
			return fmt.Errorf("%w: %s is defined in a file that nobody has trusted: ethos-decide trust", ErrUnknownTool, name)
		}
	}
	return fmt.Errorf("%w: %s; %s", ErrUnknownTool, name, w.config.catalog.KnownTool(name))
}
