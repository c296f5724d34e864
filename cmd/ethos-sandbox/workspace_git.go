package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/lazy"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/sandbox/clone"
	"ethos/pkg/statedir"
)

// isClone reports whether a workspace was made with --git.
func isClone(sys *cli.System, name string) (bool, error) {
	if err := checkWorkspaceName(name); err != nil {
		return false, err
	}
	names, err := statedir.List(sys.Getenv, clone.Folder)
	return slices.Contains(names, name), err
}

func openClone(sys *cli.System, name string, alone bool) (*clone.Clone, error) {
	c, err := clone.Open(sys.Getenv, name, alone)
	if errors.Is(err, statedir.ErrBusy) {
		return nil, cli.Errorf(cli.Refused, "wait until the command that runs in it has ended", "work space %s: %w", name, err)
	}
	if err != nil {
		return nil, cli.Errorf(cli.Refused, "", "work space %s: %w", name, err)
	}
	return c, nil
}

// branchForm matches valid branch names of workspaces, a subset of what git-check-ref-format(1)
// allows.
var branchForm = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$`)
}}

func checkBranch(name string) error {
	if !branchForm.Get().MatchString(name) || len(name) > 200 || strings.Contains(name, "..") || strings.HasSuffix(name, ".") || name == "HEAD" ||
		strings.Contains(name+"/", ".lock/") {
		return cli.Errorf(cli.Refused, "use letters, digits, '_', '-', '.' and '/', as in --branch agent/topic", "%s is not a valid branch name here", printable.Line(name))
	}
	return nil
}

// plainGit begins a git command line that runs none of a repository's programs except its filters
// and merge drivers, and does no work in the background.
const plainGit = `git() { command git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 -c maintenance.auto=false "$@"; }
`

// clone creates a workspace for --git. Git runs confined: it can read the repository, and writes to
// the new directory.
func (c *workspaceCreateCmd) clone(ctx context.Context, sys *cli.System) error {
	given := c.Flags
	given.Workspace = ""
	if !given.None() {
		return cli.Errorf(cli.Refused, "pass them to ethos-sandbox workspace run", "the flags of the boundary have no effect with --git")
	}
	from, repo, err := c.source(sys)
	if err != nil {
		return err
	}
	made, err := clone.Create(sys.Getenv, from)
	if errors.Is(err, fs.ErrExist) {
		return thereIs(c.Name)
	}
	if err != nil {
		return cli.Errorf(cli.Refused, "check ~/.local/share/ethos/workspaces (or XDG_DATA_HOME), where it is kept, and ~/.local/state/ethos (or XDG_STATE_HOME), where it is recorded", "work space %s: %w", c.Name, err)
	}
	// The directory may contain .coding-ethos, and git clones only into an empty directory.
	script := plainGit + `git clone -q --no-hardlinks --no-checkout "$@" .clone && mv .clone/.git .git && rmdir .clone || exit
git switch -q --no-track -c "$BRANCH" "$BASE"`
	argv := []string{"sh", "-c", script, "sh"}
	for _, e := range repo.Config.Entries { // only the author configured in this repository
		if e.Scope == "local" && (e.Key == "user.name" || e.Key == "user.email") {
			argv = append(argv, "-c", e.Key+"="+e.Value)
		}
	}
	argv = append(argv, "--", repo.Record.CommonDir)
	flags := boundary.Flags{Workspace: made.Dir, Ro: []string{repo.Record.CommonDir}, Untimed: true, Env: []string{"BRANCH=" + from.Branch, "BASE=" + from.Base}}
	status, said, err := quietRun{flags: flags, dir: made.Dir, argv: argv}.run(ctx, sys)
	if err == nil && status != 0 {
		err = cli.Errorf(cli.Refused, "without --git a work space is a copy-on-write view", "work space %s: git could not create the clone (status %d): %s", c.Name, status, said)
	}
	if err == nil {
		err = made.Begin()
	}
	if err != nil {
		return errors.Join(err, made.Remove())
	}
	return errors.Join(sys.Printf("%s\n", made.Dir), made.Close())
}

func (c *workspaceCreateCmd) source(sys *cli.System) (from clone.Source, repo *gitrepo.Repository, err error) {
	from = clone.Source{Name: c.Name, Branch: cmp.Or(c.Branch, c.Name)}
	if err := checkBranch(from.Branch); err != nil {
		return from, nil, err
	}
	from.Origin = c.WorkspaceOf(sandbox.HostFiles{}, sys.Dir)
	const hint = "ethos-sandbox workspace create without --git makes a copy-on-write view"
	repo, err = gitrepo.Open(from.Origin, gitrepo.FromEnviron(sys.Getenv))
	if err != nil {
		return from, nil, cli.Errorf(cli.Refused, hint, "%w", err)
	}
	if repo.Record.GitDir == "" || repo.Record.Root != from.Origin || repo.Bare {
		return from, nil, cli.Errorf(cli.Refused, hint, "%s is not the work tree of a git repository", printable.Line(from.Origin))
	}
	head, err := gitrepo.FindRevision(from.Origin, "HEAD")
	if err != nil {
		return from, nil, cli.Errorf(cli.Refused, "make a first commit; "+hint, "HEAD of %s: %w", printable.Line(from.Origin), err)
	}
	from.Base = head.Commit
	refs, err := repo.Refs()
	if err != nil {
		return from, nil, cli.Errorf(cli.Refused, hint, "%w", err)
	}
	if slices.ContainsFunc(refs.Branches, func(b string) bool {
		return b == from.Branch || strings.HasPrefix(b, from.Branch+"/") || strings.HasPrefix(from.Branch, b+"/")
	}) {
		return from, nil, cli.Errorf(cli.Refused, "name another: --branch NAME", "the repository has the branch %s, or one whose name conflicts with it", from.Branch)
	}
	return from, repo, nil
}

// quietRun is one run whose output is not passed on unchanged to the caller.
type quietRun struct {
	flags  boundary.Flags
	dir    string
	argv   []string
	stdin  *os.File                    // nil is empty
	stdout *os.File                    // nil makes it part of said
	ready  func(p *sandbox.Plan) error // may change the plan; may be nil
}

// run returns the status of the command, and the beginning of its output in printable form. The
// error says that it did not run.
func (r quietRun) run(ctx context.Context, sys *cli.System) (status int, said string, err error) {
	at := *sys
	at.Dir = r.dir
	spec, err := specNow(&at, &r.flags, r.argv)
	if err != nil {
		return 0, "", err
	}
	spec.CloseStdin = r.stdin == nil
	plan, err := build(sys, spec, cli.Refused)
	if err == nil && r.ready != nil {
		err = r.ready(plan)
	}
	if err != nil {
		return 0, "", err
	}
	words, err := os.CreateTemp("", "ethos-said-")
	if err != nil {
		return 0, "", err
	}
	defer words.Close()
	if err := os.Remove(words.Name()); err != nil {
		return 0, "", err
	}
	streams := sandbox.IO{Stdin: r.stdin, Stdout: r.stdout, Stderr: words}
	if r.stdout == nil {
		streams.Stdout = words
	}
	out, err := sandbox.Run(ctx, plan, streams)
	sandbox.Release()
	if err != nil {
		return 0, "", refused(err, cli.Refused)
	}
	return out.ExitStatus(), readSome(words), nil
}

// inClone runs a command in a clone, as run does in any workspace. It starts in the directory that
// corresponds to the caller's.
func (c *workspaceRunCmd) inClone(ctx context.Context, sys *cli.System, name string, argv []string) error {
	made, err := openClone(sys, name, false)
	if err != nil {
		return err
	}
	defer made.Close()
	at := *sys
	at.Dir = made.Dir
	if rel, ok := strings.CutPrefix(sys.Dir+"/", made.Origin+"/"); ok {
		if info, err := os.Lstat(filepath.Join(made.Dir, rel)); err == nil && info.IsDir() {
			at.Dir = filepath.Join(made.Dir, rel)
		}
	}
	c.Workspace = made.Dir
	spec, err := specNow(&at, &c.Flags, argv)
	if err != nil {
		return err
	}
	caught := catch()
	plan, evidence, err := c.ready(ctx, &at, spec)
	if err != nil || plan == nil {
		return err
	}
	return c.pass(ctx, &at, plan, evidence, caught, nil)
}

// ofClone shows the differences from the commit that the branch started from.
func (c *workspaceDiffCmd) ofClone(ctx context.Context, sys *cli.System) error {
	made, err := openClone(sys, c.Name, false)
	if err != nil {
		return err
	}
	defer made.Close()
	changes, err := made.Changes(ctx)
	if err != nil {
		return err
	}
	var list []record.Write
	for _, path := range c.Paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(made.Dir, path)
		}
		path = filepath.Clean(path)
		n := len(list)
		for _, w := range changes {
			if w.Path == path || strings.HasPrefix(w.Path, path+"/") {
				list = append(list, w)
			}
		}
		if len(list) == n {
			return cli.Errorf(cli.Refused, "ethos-sandbox workspace diff "+c.Name+" lists the changes", "nothing at or below %s was changed", printable.Line(path))
		}
	}
	if len(c.Paths) == 0 {
		list = changes
	}
	return c.print(sys, list)
}

// ofClone removes a clone if that loses nothing.
func (c *workspaceRemoveCmd) ofClone(sys *cli.System) error {
	made, err := openClone(sys, c.Name, true)
	if err != nil {
		return err
	}
	if c.Force {
		return made.Remove()
	}
	hint := "ethos-sandbox workspace merge " + c.Name + " merges what is committed; or remove --force " + c.Name + ", which loses it"
	work, err := made.Unmerged()
	switch {
	case err != nil:
		err = cli.Errorf(cli.Refused, hint, "work space %s: cannot tell what would be lost: %w", c.Name, err)
	case len(work) > 0:
		err = cli.Errorf(cli.Refused, hint, "work space %s has %s that were not merged", c.Name, printable.Line(strings.Join(work, ", ")))
	}
	if err != nil {
		return errors.Join(err, made.Close())
	}
	return made.Remove()
}

// listClones lists the workspaces that were made with --git.
func listClones(ctx context.Context, sys *cli.System, asJSON bool) error {
	names, err := statedir.List(sys.Getenv, clone.Folder)
	if err != nil {
		return err
	}
	for _, name := range names {
		one := listed{Name: name}
		made, err := clone.Open(sys.Getenv, name, false)
		switch {
		case errors.Is(err, statedir.ErrBusy):
			one.Busy = true
		case err != nil:
			sys.Warn(name+": "+err.Error(), "")
			continue
		default:
			one.Created, one.Roots = made.Created.Format("2006-01-02T15:04:05Z"), []string{made.Origin}
			one.Branch, one.Dir = made.Branch, made.Dir
			changed, err := made.Changed(ctx)
			if made.Close(); err != nil {
				sys.Warn(name+": "+err.Error(), "")
			}
			one.Changes = len(changed)
		}
		if err := one.print(sys, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// readSome reads the beginning of a file that a command wrote.
func readSome(f *os.File) string {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(f, 8<<10))
	return strings.TrimSpace(printable.Text(string(text)))
}
