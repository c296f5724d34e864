package facts

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

const (
	maxRuns  = 32  // pieces of code that the git commands of one action run, nested ones included
	maxGit   = 500 // git commands of one action
	maxDepth = 8   // nesting of git commands that run git
)

// gitWork analyses the git commands of one action in order. Each command sees the changes of those
// before it.
type gitWork struct {
	*work
	opt    shell.Options
	found  []record.Git
	reads  []string // parallel to what was appended to Shell.Reads
	writes []string // parallel to what was appended to Shell.Writes
	runs   int
	after  map[string]gitargs.Context // by directory
	saved  map[string]saved           // by git directory
	made   made
}

// read adds a git entry for every git command of the analysis. The analysis already has what git
// writes and runs in the start directory of the action; read adds what depends on another
// repository.
func (g *gitWork) read(a shell.Analysis) {
	g.found, g.after, g.made = []record.Git{}, map[string]gitargs.Context{}, madeBy(a)
	for i := range a.Shell.Commands {
		g.command(&a, i, &a.Shell.Commands[i], 0)
	}
}

// command adds the entry of one command of an analysis; c is that command as it is recorded.
func (g *gitWork) command(a *shell.Analysis, i int, c *record.Command, depth int) {
	partial, cwd := a.Partial[i], a.Cwds[i]
	if !gitargs.IsGit(c.Name) {
		return
	}
	if len(g.found) >= maxGit || depth > maxDepth {
		g.lacks.add(record.IncompleteSize)
		return
	}
	r := g.reading(c, partial, cwd)
	if !r.Discard.Any() {
		r.Discard = replaces(r, a, i, g.d.opt.Tree)
	}
	r.Git.Loses = g.loses(r, cwd)
	g.found = append(g.found, r.Git)
	g.lacks.add(r.Incomplete...)
	if cwd != g.opt.Cwd || r.Elsewhere() {
		g.beyond(c, partial, r, cwd, depth)
	}
}

// beyond adds what a command writes and runs because of the repository that it works in. The
// analysis of its words alone cannot know this.
func (g *gitWork) beyond(c *record.Command, partial []string, r gitargs.Reading, cwd string, depth int) {
	alone := gitargs.Read(c.Argv, gitargs.Context{Env: c.Assignments, Partial: partial, Name: c.Name})
	for _, u := range r.Writes {
		if !slices.Contains(alone.Writes, u) {
			g.addWrite(u, cwd)
		}
	}
	for _, run := range r.Runs {
		same := func(other gitargs.Run) bool { return other.Via == run.Via && other.Script == run.Script }
		if !slices.ContainsFunc(alone.Runs, same) && !gitsOwn(run) {
			g.run(run, c, sentTo(cwd, r.Dir), depth)
		}
	}
}

// gitsOwn reports whether a program is part of git: git-NAME.
func gitsOwn(run gitargs.Run) bool {
	return run.Via == "external" || strings.HasPrefix(run.Via, "command ")
}

// reading analyses one git command in the repository that it works in, which -C, --git-dir,
// --work-tree and their variables can change.
func (g *gitWork) reading(c *record.Command, partial []string, cwd string) gitargs.Reading {
	ctx, known := g.after[cwd]
	if !known {
		ctx = g.contextAt(cwd, gitrepo.Options{})
	}
	ctx.Env, ctx.Partial, ctx.Name = slices.Concat(g.d.opt.Env, c.Assignments), partial, c.Name
	r := gitargs.Read(c.Argv, ctx)
	if r.Elsewhere() {
		other := g.contextAt(sentTo(cwd, r.Dir), gitrepo.Options{GitDir: r.GitDir, WorkTree: r.WorkTree})
		other.Env, other.Partial, other.Name = ctx.Env, partial, c.Name
		return gitargs.Read(c.Argv, other)
	}
	g.after[cwd] = r.After(ctx)
	return r
}

// sentTo returns the directory that -C names, relative to cwd.
func sentTo(cwd, dir string) string {
	if path.IsAbs(dir) {
		return path.Clean(dir)
	}
	return path.Join(cwd, dir)
}

// contextAt returns the state of the repository around a directory. The script itself may create
// that directory. What cannot be examined is marked as unknown.
func (g *gitWork) contextAt(dir string, over gitrepo.Options) gitargs.Context {
	at := resolve(g.d.opt.Tree, dir, false)
	if over.GitDir == "" && over.WorkTree == "" && !at.exists && !at.partial && strings.HasPrefix(dir, "/") {
		if ctx, ok := g.newAt(path.Clean(dir)); ok {
			return ctx
		}
		if len(g.shell.Commands) == 1 { // nothing creates the directory: git fails, because it does not exist
			return gitargs.Context{}
		}
	}
	if dir == "" || !strings.HasPrefix(dir, "/") || !at.exists || at.partial {
		g.lacks.add(record.IncompleteGitRepo)
		return gitargs.Context{}
	}
	found := g.d.repos.at(at.name)
	if over.GitDir != "" || over.WorkTree != "" {
		opt := g.d.opt.Git
		opt.GitDir, opt.WorkTree = over.GitDir, over.WorkTree
		found = g.d.repos.read(at.name, opt)
	}
	ctx := found.context(g.lacks)
	ctx.Repo.ProtectedBranches = append(append([]string{}, ctx.Repo.ProtectedBranches...), g.config.ProtectedBranches...)
	return ctx
}

// addWrite adds a path that a git command changes to the writes of the shell.
func (g *gitWork) addWrite(u record.PathUse, cwd string) {
	abs := u.Path
	if !strings.HasPrefix(abs, "/") && !strings.HasPrefix(abs, "~") {
		abs = cwd + "/" + abs
	}
	u.By = "git"
	u.Path = g.shown(abs)
	g.shell.Writes = append(g.shell.Writes, u)
	g.writes = append(g.writes, g.files.absolute(abs, cwd))
}

// shown returns a path in the form of the shell facts: relative to the work space if it is inside.
func (g *gitWork) shown(abs string) string {
	clean := path.Clean(abs)
	switch {
	case clean == g.place.workspace:
		return "."
	case within(clean, g.place.workspace):
		return strings.TrimPrefix(clean, g.place.workspace+"/")
	}
	return clean
}

// run analyses code that a git command starts: a shell alias, or the command of bisect run or
// rebase --exec.
func (g *gitWork) run(run gitargs.Run, by *record.Command, dir string, depth int) {
	if g.runs++; g.runs > maxRuns {
		g.lacks.add(record.IncompleteSize)
		return
	}
	opt := g.opt
	opt.Cwd = dir
	a := shell.Analyze(script(run), opt)
	g.lacks.add(a.Incomplete...)
	for i := range a.Shell.Commands {
		c := a.Shell.Commands[i]
		c.Within = append(append(append([]string{}, by.Within...), "git "+run.Via), c.Within...)
		c.Depth += by.Depth + 1
		c.Line, c.Column = by.Line, by.Column
		g.shell.Commands = append(g.shell.Commands, c)
		g.command(&a, i, &c, depth+1)
	}
	g.merge(a)
}

func (g *gitWork) merge(a shell.Analysis) {
	s := &g.shell
	g.calls = append(g.calls, a.Ethos...)
	g.analyses = append(g.analyses, a)
	s.Reads = append(s.Reads, a.Shell.Reads...)
	s.Writes = append(s.Writes, a.Shell.Writes...)
	g.reads = append(g.reads, a.Reads...)
	g.writes = append(g.writes, a.Writes...)
	s.Unresolved = s.Unresolved || a.Shell.Unresolved
	s.DepthExceeded = s.DepthExceeded || a.Shell.DepthExceeded
	risks := lacks{codes: s.Risks}
	risks.add(a.Shell.Risks...)
	s.Risks = risks.codes
}

// script returns the script that a run passes to sh -c. Words of the argument vector that are not
// static become an unknown variable, so that they stay unknown.
func script(run gitargs.Run) string {
	words := make([]string, len(run.Argv))
	for i, w := range run.Argv {
		if words[i] = `"$ETHOS_UNKNOWN"`; w != nil {
			words[i] = "'" + strings.ReplaceAll(*w, "'", `'\''`) + "'"
		}
	}
	line := strings.Join(words, " ")
	if run.Script == "" {
		return line
	}
	return "sh -c '" + strings.ReplaceAll(run.Script, "'", `'\''`) + "' sh " + line
}
