package gitguard

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/trust"
)

// looked is a call with the results of analysing its words and its repository.
type looked struct {
	call      Call
	options   gitrepo.Options
	repo      *gitrepo.Repository
	repoErr   error
	ctx       gitargs.Context
	reading   gitargs.Reading
	action    record.Action
	actor     record.Actor
	workspace string   // the work tree, "" outside of one and if git does not enter it
	top       string   // the work tree, safe or not
	modeErr   error    // ETHOS_MODE names no mode
	planted   []string // what the repository would run and is not trusted: see Executables
}

// look analyses the call twice: first to determine the directory and the repository that it names,
// then with that repository's configuration.
func look(c Call) *looked {
	env := c.assignments()
	first := gitargs.Read(c.words(), gitargs.Context{Env: env})
	l := &looked{call: c, options: options(c, first)}
	l.repo, l.repoErr = gitrepo.Open(under(c.Dir, first.Dir), l.options)
	l.ctx = gitargs.Context{Repo: l.repo.Record, Config: l.repo.Config, Env: env, PlainTemplate: gitrepo.PlainTemplate}
	l.read()
	if !reads(l.reading.Git.Class) { // only commands that change something depend on the names of refs
		l.readRefs()
	}
	l.describe(first)
	return l
}

func (l *looked) read() {
	l.reading = gitargs.Read(l.call.words(), l.ctx)
	l.addPlanted()
}

func (l *looked) readRefs() {
	refs, err := l.repo.Refs()
	if err != nil {
		l.repoErr = orErr(l.repoErr, err)
		return
	}
	l.ctx.Refs = (*gitargs.Refs)(refs)
	l.read()
}

func orErr(err, other error) error {
	if err == nil {
		return other
	}
	return err
}

func under(dir, rel string) string {
	if rel == "" || filepath.IsAbs(rel) {
		return cmp.Or(rel, dir)
	}
	return filepath.Join(dir, rel)
}

// options returns git's rules for finding the repository of this call. Its global options override
// the environment.
func options(c Call, first gitargs.Reading) gitrepo.Options {
	opt := lookUp(c.getenv)
	opt.GitDir, opt.WorkTree = first.GitDir, first.WorkTree
	for _, e := range first.Git.Config {
		opt.Caller.Command = append(opt.Caller.Command, gitrepo.Entry{Key: e.Key, Value: e.Value, Scope: "command"})
	}
	return opt
}

// lookUp returns git's rules for finding a repository, for the user who runs this.
func lookUp(getenv func(string) string) gitrepo.Options {
	opt := gitrepo.FromEnviron(getenv)
	opt.Caller = &gitrepo.Caller{UID: os.Geteuid(), SudoUID: getenv("SUDO_UID")}
	return opt
}

// outer returns the rules without the options of this command, which the facts evaluate themselves.
func (l *looked) outer() gitrepo.Options {
	opt := gitrepo.FromEnviron(l.call.getenv)
	opt.Caller = l.options.Caller
	return opt
}

// describe sets the action and the actor. The work space is that of the working directory, whatever
// -C and similar options name.
func (l *looked) describe(first gitargs.Reading) {
	here := l.repo
	if first.Elsewhere() {
		opt := l.options
		opt.GitDir, opt.WorkTree, opt.CommonDir = "", "", ""
		here, _ = gitrepo.Open(l.call.Dir, opt)
	}
	l.top = here.Record.Root
	if !here.Unsafe {
		l.workspace = l.top
	}
	cwd, err := filepath.EvalSymlinks(l.call.Dir)
	if err != nil {
		cwd = l.call.Dir
	}
	l.action = record.Action{Kind: record.KindExec, Argv: l.argv(), Cwd: cwd, Workspace: cmp.Or(l.top, cwd)}
	mode, err := record.ModeGiven("", l.call.getenv)
	l.modeErr, l.actor = err, record.Actor{Tool: "git", Mode: cmp.Or(mode, record.ModeSafe)}
	l.shorten()
}

// plain reports whether no policy needs to be evaluated: the command only reads, sets no
// configuration, everything about it is known, and there are no policies but the shipped ones.
func (l *looked) plain() bool {
	g := l.reading.Git
	return reads(g.Class) && l.actor.Mode == record.ModeSafe && l.repoErr == nil && len(g.Dangers) == 0 && len(g.Config) == 0 &&
		len(l.reading.Incomplete) == 0 && len(l.reading.Runs) == 0 && len(l.reading.Writes) == 0 && !l.hasPolicies()
}

func reads(class []string) bool { return len(class) == 1 && class[0] == "read" }

// hasPolicies reports whether the work space, or a work tree that contains it, has policies of its
// own.
func (l *looked) hasPolicies() bool {
	_, err := os.Lstat(filepath.Join(l.action.Workspace, trust.ConsumerFile))
	return !os.IsNotExist(err) || len(trust.Around(l.action.Workspace, trust.ConsumerFile)) > 0
}

// merge adds what only this call knows to facts that were derived from its argv alone: the
// environment, bytes that are not UTF-8, and a repository that could not be read. The protected
// branches are those of the facts, for which the work space's own configuration was read. What the
// command would throw away is left out: a hook has asked about it, or a person types the command.
func (l *looked) merge(f *record.Facts) {
	if len(f.Repo.ProtectedBranches) > 0 {
		l.ctx.Repo.ProtectedBranches = f.Repo.ProtectedBranches
		l.read()
		l.shorten()
	}
	if len(f.Git) == 0 {
		f.Git = []record.Git{l.reading.Git}
	} else {
		f.Git[0] = l.reading.Git
	}
	for _, w := range l.reading.Writes { // of GIT_TRACE and core.worktree, which are not among the words
		if filepath.IsAbs(w.Path) && !slices.Contains(f.Shell.Writes, w) {
			f.Shell.Writes = append(f.Shell.Writes, w)
		}
	}
	f.Incomplete = union(f.Incomplete, l.reading.Incomplete)
	if l.repoErr != nil {
		f.Incomplete = union(f.Incomplete, []string{record.IncompleteGitRepo})
	}
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// assignments returns the variables that only git and managers of its hooks read, and those that
// --config-env names. EDITOR, PAGER, HOME and similar variables, which people set for every
// program, count as the user's own choice. If a script sets them for one command, they are facts of
// that script.
func (c Call) assignments() []record.Assignment {
	named := c.namedVariables()
	var out []record.Assignment
	for _, entry := range c.Environ {
		name, value, ok := strings.Cut(entry, "=")
		if ok && (strings.HasPrefix(name, "GIT_") || gitargs.SwitchesHooks(name) || slices.Contains(named, name)) {
			out = append(out, record.Assignment{Name: name, Value: &value})
		}
	}
	return out
}

// namedVariables returns the variables in --config-env=KEY=VARIABLE, at any position.
func (c Call) namedVariables() []string {
	var names []string
	for i, w := range c.Args {
		entry, ok := strings.CutPrefix(w, "--config-env=")
		if !ok && w == "--config-env" && i+1 < len(c.Args) {
			entry, ok = c.Args[i+1], true
		}
		if ok {
			names = append(names, entry[strings.LastIndexByte(entry, '=')+1:])
		}
	}
	return names
}

func (c Call) getenv(name string) string {
	for i := len(c.Environ) - 1; i >= 0; i-- {
		if key, value, ok := strings.Cut(c.Environ[i], "="); ok && key == name {
			return value
		}
	}
	return ""
}
