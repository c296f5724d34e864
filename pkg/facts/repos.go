package facts

import (
	"io/fs"
	"path"
	"slices"
	"syscall"
	"time"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
)

// OpenRepo finds the repository that encloses dir. Outside of tests it is [gitrepo.Open].
type OpenRepo func(dir string, opt gitrepo.Options) (*gitrepo.Repository, error)

// maxKept limits how many directories are cached between actions.
const maxKept = 64

// repos caches repositories by directory, until their HEAD or configuration is written to.
type repos struct {
	tree Tree
	open OpenRepo
	opt  gitrepo.Options
	kept map[string]*repo
}

// repo is what is known of the repository around one directory.
type repo struct {
	*gitrepo.Repository
	err    error
	stamps []stamp
	refs   *gitargs.Refs // read on first use
	noRefs error
}

// stamp distinguishes one state of a file from another.
type stamp struct {
	name    string
	size    int64
	changed time.Time
	inode   uint64
}

func stampOf(t Tree, name string) stamp {
	s := stamp{name: name}
	if info, err := t.Lstat(name); err == nil {
		s.size, s.changed, s.inode = info.Size(), info.ModTime(), inode(info)
	}
	return s
}

func inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

func (r *repos) at(dir string) *repo {
	if have := r.kept[dir]; have != nil && r.fresh(have) {
		return have
	}
	if len(r.kept) >= maxKept || r.kept == nil {
		r.kept = map[string]*repo{}
	}
	found := r.read(dir, r.opt)
	r.kept[dir] = found
	return found
}

// read is at without the cache.
func (r *repos) read(dir string, opt gitrepo.Options) *repo {
	found, err := r.open(dir, opt)
	out := &repo{Repository: found, err: err, stamps: []stamp{stampOf(r.tree, path.Join(dir, ".git"))}}
	if git := found.Record.GitDir; git != "" {
		out.stamps = append(out.stamps, stampOf(r.tree, path.Join(git, "HEAD")), stampOf(r.tree, path.Join(found.Record.CommonDir, "config")),
			stampOf(r.tree, path.Join(git, "config.worktree")))
	}
	return out
}

func (r *repos) fresh(have *repo) bool {
	return !slices.ContainsFunc(have.stamps, func(s stamp) bool { return stampOf(r.tree, s.name) != s })
}

// context returns what the meaning of a git command depends on if it starts in this repository.
func (r *repo) context(l *lacks) gitargs.Context {
	if r.refs == nil && r.noRefs == nil && r.Record.GitDir != "" {
		r.readRefs()
	}
	if r.err != nil || r.noRefs != nil {
		l.add(record.IncompleteGitRepo)
	}
	return gitargs.Context{Repo: r.Record, Config: r.Config, Refs: r.refs}
}

func (r *repo) readRefs() {
	names, err := r.Refs()
	if r.noRefs = err; err == nil {
		r.refs = &gitargs.Refs{Branches: names.Branches, Tags: names.Tags, Remote: names.Remote}
	}
}
