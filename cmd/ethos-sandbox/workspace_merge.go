package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ethos/pkg/capability"
	"ethos/pkg/cli"
	"ethos/pkg/gitrepo"
	"ethos/pkg/printable"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/sandbox/boundary"
	"ethos/pkg/sandbox/clone"
	"ethos/pkg/sandbox/view"
)

type workspaceMergeCmd struct {
	Fetch bool   `help:"Copy the branch only; git merge BRANCH merges it later."`
	Name  string `arg:"" name:"name" help:"The work space."`
}

// Run merges the branch of a clone into its original repository. Nothing of the
// clone's configuration takes effect there: only a pack of objects is
// transferred.
func (c *workspaceMergeCmd) Run(ctx context.Context, sys *cli.System) error {
	there, err := isClone(sys, c.Name)
	if err != nil {
		return err
	}
	if !there {
		v, err := openWorkspace(sys, c.Name)
		if err != nil {
			return err
		}
		return errors.Join(cli.Errorf(cli.Refused, "ethos-sandbox workspace apply "+c.Name, "work space %s is a copy-on-write view without a branch: apply it instead", c.Name), v.Close())
	}
	made, err := openClone(sys, c.Name, true)
	if err != nil {
		return err
	}
	defer made.Close()
	tip, err := gitrepo.FindRevision(made.Dir, "refs/heads/"+made.Branch)
	if err != nil {
		return cli.Errorf(cli.Refused, "check it: git -C "+printable.Word(made.Dir)+" branch", "branch %s of work space %s: %w", made.Branch, c.Name, err)
	}
	c.uncommitted(sys, made)
	if tip.Commit == made.Base {
		return cli.Errorf(cli.NegativeStatus, "commit in it: ethos-sandbox workspace run "+c.Name+" -- git commit -am MESSAGE", "branch %s of work space %s has no commit of its own", made.Branch, c.Name)
	}
	pack, err := packOf(ctx, sys, made, tip.Commit)
	if err != nil {
		return err
	}
	defer pack.Close()
	if err := c.bring(ctx, sys, made, tip.Commit, pack); err != nil {
		return err
	}
	made.Merged = tip.Commit
	return made.Save()
}

func (c *workspaceMergeCmd) uncommitted(sys *cli.System, made *clone.Clone) {
	kinds, err := made.Uncommitted()
	if err != nil {
		sys.Warn("work space "+c.Name+": cannot tell what is uncommitted: "+err.Error(), "")
	}
	if len(kinds) > 0 {
		sys.Warn("work space "+c.Name+" has "+strings.Join(kinds, ", ")+" files that are not committed: they are not merged, and stay there", "")
	}
}

// packOf has git write the objects of the branch, in a run that can write to
// nothing else. The content of the pack is untrusted.
func packOf(ctx context.Context, sys *cli.System, made *clone.Clone, tip string) (*os.File, error) {
	pack, err := made.Scratch()
	if err != nil {
		return nil, err
	}
	script := plainGit + `printf '%s\n^%s\n' "$1" "$2" | git pack-objects -q --revs --thin --stdout --delta-base-offset`
	flags := boundary.Flags{Profile: "lint-offline", Workspace: made.Dir, Untimed: true}
	status, said, err := quietRun{flags: flags, dir: made.Dir, argv: []string{"sh", "-c", script, "sh", tip, made.Base}, stdout: pack}.run(ctx, sys)
	if err == nil && status != 0 {
		err = cli.Errorf(cli.Refused, "fix it there", "git cannot read the branch %s of work space %s (status %d): %s", made.Branch, made.Name, status, said)
	}
	if err == nil {
		_, err = pack.Seek(0, io.SeekStart)
	}
	if err != nil {
		pack.Close()
		return nil, err
	}
	return pack, nil
}

// The exit statuses of mergeScript.
const (
	statusPack = 90 + iota
	statusCheckedOut
	statusElsewhere
	statusMerge
)

// mergeScript takes the arguments tip, branch, and fetch or merge; the pack is
// on its standard input. --strict checks each object as git-fsck(1) does, and
// that all objects that they refer to exist.
const mergeScript = plainGit + `ref=refs/heads/$2
git index-pack --stdin --fix-thin --strict >/dev/null || exit 90
! git worktree list --porcelain | grep -qxF "branch $ref" || exit 91
old=$(git rev-parse -q --verify "$ref") && { git merge-base --is-ancestor "$old" "$1" || exit 92; }
git update-ref -m "ethos-sandbox workspace merge" "$ref" "$1" "$old" || exit 90
test "$3" = fetch || git merge --no-edit "$ref" || exit 93
`

// bring merges in a copy-on-write view of the repository. The view is applied
// only if everything succeeded and all of it can be applied: otherwise the
// repository is unchanged.
func (c *workspaceMergeCmd) bring(ctx context.Context, sys *cli.System, made *clone.Clone, tip string, pack *os.File) (err error) {
	what := "merge"
	if c.Fetch {
		what = "fetch"
	}
	dir := ""
	run := quietRun{
		flags: boundary.Flags{Workspace: made.Origin, View: capability.CopyOnWrite, Untimed: true}, dir: made.Origin,
		argv: []string{"sh", "-c", mergeScript, "sh", tip, made.Branch, what}, stdin: pack,
		ready: func(p *sandbox.Plan) error {
			v, err := view.Create(sandbox.ViewPlace(p, fmt.Sprintf("merge-%s-%d", c.Name, os.Getpid())))
			if err != nil {
				return cli.Errorf(cli.Refused, "check ~/.local/state/ethos (or XDG_STATE_HOME) and /var/tmp, where views are kept", "copy-on-write view: %w", err)
			}
			dir, p.View.At = v.Dir, v.Dir
			return v.Close()
		},
	}
	status, said, err := run.run(ctx, sys)
	if dir == "" {
		return err
	}
	v, fault := view.OpenAt(sys.Getenv, dir)
	if fault != nil {
		return errors.Join(err, fault)
	}
	defer func() { err = errors.Join(err, v.Remove()) }()
	if err == nil && status != 0 {
		err = c.failed(made, status, said)
	}
	if err != nil {
		return err
	}
	changes, err := v.Changes(ctx)
	if err != nil {
		return err
	}
	if left := v.Refused(changes); len(left) > 0 {
		return c.cannot(made, left)
	}
	if err := c.overwritten(made, changes); err != nil {
		return err
	}
	if err := told(sys, sandbox.ApplyView(context.WithoutCancel(ctx), v, sys.Getenv, changes)); err != nil {
		return err
	}
	return sys.Print(said + "\n")
}

// nothing says that the repository is unchanged.
const nothing = "nothing was changed; "

// byHand says how the user can merge.
func (c *workspaceMergeCmd) byHand(made *clone.Clone) string {
	return nothing + "ethos-sandbox workspace merge --fetch " + c.Name + " copies only the branch; merge it yourself with git merge " + made.Branch
}

func (c *workspaceMergeCmd) failed(made *clone.Clone, status int, said string) error {
	switch origin := printable.Line(made.Origin); status {
	case statusPack:
		return cli.Errorf(cli.Refused, nothing+"check the commits there: git -C "+printable.Word(made.Dir)+" fsck", "git rejected the objects of branch %s: %s", made.Branch, said)
	case statusCheckedOut:
		return cli.Errorf(cli.Refused, nothing+"git switch to another branch, then merge again", "branch %s is checked out in %s", made.Branch, origin)
	case statusElsewhere:
		return cli.Errorf(cli.Refused, nothing+"rename yours: git branch -m "+made.Branch+" OTHER", "the repository %s has a branch %s with commits that the work space does not have", origin, made.Branch)
	case statusMerge:
		return cli.Errorf(cli.NegativeStatus, c.byHand(made), "git could not merge branch %s: %s", made.Branch, said)
	default:
		return cli.Errorf(cli.Refused, nothing+"make sure that git is installed and the repository is intact", "merging branch %s ended with status %d: %s", made.Branch, status, said)
	}
}

// overwritten returns the error for changes that would lose a file that is not
// in the user's index. Git overwrites an ignored file without asking.
func (c *workspaceMergeCmd) overwritten(made *clone.Clone, changes []view.Change) error {
	unknown := func(err error) error {
		return cli.Errorf(cli.Refused, c.byHand(made), "cannot tell what the merge would overwrite in %s: %w", printable.Line(made.Origin), err)
	}
	repo, err := gitrepo.Open(made.Origin, gitrepo.Options{})
	if err == nil && (repo.Record.GitDir == "" || repo.Record.Root != made.Origin) {
		err = errors.New("it is no longer a git repository")
	}
	if err != nil {
		return unknown(err)
	}
	var paths []string
	for _, change := range changes {
		rel, err := filepath.Rel(made.Origin, change.Path)
		if err != nil {
			return unknown(err)
		}
		was := cmp.Or(change.Was, change.Type)
		if change.Op != record.WriteCreated && was != "directory" && !within(change.Path, repo.Record.GitDir) && !within(change.Path, repo.Record.CommonDir) {
			paths = append(paths, rel)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	lost, err := repo.Untracked(paths)
	if err != nil {
		return unknown(err)
	}
	if len(lost) == 0 {
		return nil
	}
	const shown = 10
	more := ""
	if n := len(lost) - shown; n > 0 {
		lost, more = lost[:shown], fmt.Sprintf(" and %d more", n)
	}
	for i, path := range lost {
		lost[i] = printable.Line(path)
	}
	return cli.Errorf(cli.NegativeStatus, nothing+"move them out of the repository, then merge again; or, if they can be lost, copy only the branch with ethos-sandbox workspace merge --fetch "+c.Name+": git merge "+made.Branch+" then overwrites those that are ignored",
		"branch %s would overwrite or remove files of yours that are not committed: %s%s", made.Branch, strings.Join(lost, ", "), more)
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// cannot returns the error for changes that must not be applied.
func (c *workspaceMergeCmd) cannot(made *clone.Clone, left []view.Left) error {
	for _, l := range left {
		if l.Closed {
			return cli.Errorf(cli.NegativeStatus, c.byHand(made), "branch %s changes %s, which a command must not change: it decides what runs outside, or was denied", made.Branch, printable.Line(l.Path))
		}
	}
	return cli.Errorf(cli.NegativeStatus, nothing+"merge again", "%s: %s", printable.Line(left[0].Path), printable.Line(left[0].Reason))
}
