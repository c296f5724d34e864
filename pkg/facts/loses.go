package facts

import (
	"path/filepath"
	"slices"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/protected"
	"ethos/pkg/record"
)

// loses returns the kinds of uncommitted work that a git command would discard. "unknown" stands
// for what could not be examined. The result is empty if there is no repository, or if the script
// creates it.
func (g *gitWork) loses(r gitargs.Reading, cwd string) []string {
	if !r.Discard.Any() && r.Save == (gitargs.Save{}) {
		return nil
	}
	dir := sentTo(cwd, r.Dir)
	at := resolve(g.d.opt.Tree, dir, false)
	if !at.exists || at.partial {
		return nil
	}
	found := g.d.repos.at(at.name)
	if r.GitDir != "" || r.WorkTree != "" {
		opt := g.d.opt.Git
		opt.GitDir, opt.WorkTree = r.GitDir, r.WorkTree
		found = g.d.repos.read(at.name, opt)
	}
	git := found.Record.GitDir
	if git == "" {
		return nil
	}
	kinds := lostOf(found.Repository, r.Discard, at.name, g.d.opt.Git)
	if saved, ok := g.saved[git]; ok {
		kinds = saved.without(kinds, r.Discard)
	}
	g.save(git, r.Save)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// lostOf examines the repository, and the linked work trees that a command removes.
func lostOf(repo *gitrepo.Repository, d gitargs.Discard, dir string, opt gitrepo.Options) []string {
	var kinds []string
	note := func(found []string, err error) {
		if kinds = append(kinds, found...); err != nil {
			kinds = append(kinds, gitrepo.WorkUnknown)
		}
	}
	if d.Modified || d.Staged || d.Untracked || d.Ignored {
		q := gitrepo.Question{Modified: d.Modified, Staged: d.Staged, Untracked: d.Untracked, Dirs: d.Dirs, Nested: d.Nested, Dir: dir, Paths: d.Paths, Except: d.Except}
		if d.Ignored {
			q.Ignored = protected.Secret
		}
		note(repo.Uncommitted(q, opt))
	}
	if d.Stash {
		if has, err := repo.HasStash(); has || err != nil {
			note([]string{gitrepo.WorkStash}, err)
		}
	}
	if len(d.Branches) > 0 {
		if lost, err := repo.Unmerged(d.Branches); lost || err != nil {
			note([]string{gitrepo.WorkCommits}, err)
		}
	}
	for _, name := range d.WorkTrees {
		note(inWorkTree(repo, name, dir, opt))
	}
	return kinds
}

// inWorkTree examines a linked work tree, named by its path or by the end of its path
// (builtin/worktree.c, find_worktree_by_suffix).
func inWorkTree(repo *gitrepo.Repository, name, dir string, opt gitrepo.Options) ([]string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	linked, err := gitrepo.Open(name, opt)
	if err != nil || linked.Record.CommonDir != repo.Record.CommonDir || linked.Record.GitDir == repo.Record.CommonDir {
		linked = repo.Linked(filepath.Base(name), opt)
	}
	if linked == nil {
		return nil, nil
	}
	return linked.Uncommitted(gitrepo.Question{Modified: true, Staged: true, Untracked: true, Dirs: true, Nested: true, Dir: linked.Record.Root}, opt)
}

// save records what an earlier command of the script saves. It counts only if the later commands
// run only when that command succeeds: all are joined by "&&".
func (g *gitWork) save(git string, s gitargs.Save) {
	if s == (gitargs.Save{}) {
		return
	}
	if g.saved == nil {
		g.saved = map[string]saved{}
	}
	have := g.saved[git]
	have.stash = have.stash || s.Stash
	if g.action.Kind == record.KindShell && !strings.ContainsAny(strings.ReplaceAll(g.action.Script, "&&", ""), ";\n|&!") {
		have.staged = have.staged || s.Staged
		have.tracked = have.tracked || s.Tracked
		have.untracked = have.untracked || s.Untracked
	}
	g.saved[git] = have
}

// saved is what earlier commands of the script have saved of the work in one repository.
type saved struct{ tracked, staged, untracked, stash bool }

// without removes the kinds of work that were saved. A stash entry that the script creates is
// itself work that can be lost.
func (s saved) without(kinds []string, d gitargs.Discard) []string {
	kinds = slices.DeleteFunc(kinds, func(kind string) bool {
		return s.tracked && (kind == gitrepo.WorkModified || kind == gitrepo.WorkStaged) || s.staged && kind == gitrepo.WorkStaged ||
			s.untracked && kind == gitrepo.WorkUntracked
	})
	if s.stash && d.Stash {
		kinds = append(kinds, gitrepo.WorkStash)
	}
	return kinds
}
