package gitargs

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/record"
)

// Context is what the meaning of a git command depends on besides its words. The zero value means
// that nothing is known.
type Context struct {
	Repo   record.Repo         // of the directory that the command starts in
	Config Config              // the repository's effective configuration; nil if unknown
	Refs   *Refs               // local names; nil if unknown
	Env    []record.Assignment // environment variables set for this command, later ones win; without those that the user has set permanently
	// Name is the last element of the program's path, for a first word that is nil.
	Name string
	// Partial has, for each word that is nil, its text with the dynamic parts as written, from the
	// $ or the ` on. It is "" if the word may expand to several words. Partial may be omitted.
	Partial []string
	// PlainTemplate reports whether a template directory contains nothing that git would execute or
	// read as configuration. It is nil if no file can be examined.
	PlainTemplate func(dir string) bool
}

// Config is a git configuration in memory. Keys are canonical: section and variable in lower case,
// as `git config --list` prints them.
type Config interface {
	All(key string) []string      // every value of key, the effective one last
	Each(func(key, value string)) // every entry, in the order in which git reads them
}

// Refs has the short names of a repository's refs.
type Refs struct {
	Branches []string // refs/heads/
	Tags     []string // refs/tags/
	Remote   []string // refs/remotes/, such as origin/main
}

// Reading is the meaning of one git command line.
type Reading struct {
	Git    record.Git
	Writes []record.PathUse // paths of the work tree that it changes, relative to the directory in which it starts
	Runs   []Run            // code that it would run, besides hooks and configured programs
	// Incomplete holds the codes of record.Facts.Incomplete that this command causes.
	Incomplete []string
	// Dir is the directory that -C names, relative to the start; "" without -C.
	Dir string
	// GitDir and WorkTree are the places that options, or else variables, name, relative to Dir. If
	// they are "", git searches for them.
	GitDir, WorkTree string

	// Discard is the work that it would discard, and Save the work that it would store for the
	// commands after it.
	Discard Discard
	Save    Save

	head   *string            // the branch after the command, if it switches
	orphan bool               // that branch has no commit
	config []record.GitConfig // settings that it writes to a configuration file
}

// Run is code that a git command starts. Script is for sh -c, with Argv as its positional
// parameters. Without a Script, Argv is the command. Via names the cause: "alias co", "bisect run",
// "rebase --exec".
type Run struct {
	Via    string
	Script string
	Argv   []*string
}

// Words returns an argv of static words.
func Words(words ...string) []*string {
	argv := make([]*string, len(words))
	for i := range words {
		argv[i] = &words[i]
	}
	return argv
}

// IsGit reports whether a command of this base name is git: git itself, a dashed program of its exec path
// (git-push), or ethos-git.
func IsGit(name string) bool {
	name = strings.TrimSuffix(name, ".exe")
	return name == "git" || name == "ethos-git" || strings.HasPrefix(name, "git-") && lookup(strings.TrimPrefix(name, "git-")) != nil
}

// Elsewhere reports whether the command works in another repository than the one around its start
// directory.
func (r Reading) Elsewhere() bool { return r.Dir != "" || r.GitDir != "" || r.WorkTree != "" }

// After returns the context for a command that follows r in the same script: r's branch switch and
// its changes of the configuration are effective.
func (r Reading) After(ctx Context) Context {
	if r.head != nil {
		ctx.Repo.Branch, ctx.Repo.Detached, ctx.Repo.Upstream = *r.head, false, ""
		if ctx.Refs != nil && !r.orphan && !slices.Contains(ctx.Refs.Branches, *r.head) {
			refs := *ctx.Refs
			refs.Branches = append(slices.Clone(refs.Branches), *r.head)
			ctx.Refs = &refs
		}
	}
	if len(r.config) > 0 {
		ctx.Config = layered{under: ctx.Config, over: r.config}
	}
	return ctx
}

// layered is a configuration with entries added on top of it.
type layered struct {
	under Config
	over  []record.GitConfig
}

func (l layered) All(key string) []string {
	var all []string
	l.Each(func(k, v string) {
		if k == key {
			all = append(all, v)
		}
	})
	return all
}

func (l layered) Each(f func(key, value string)) {
	if l.under != nil {
		l.under.Each(f)
	}
	for _, c := range l.over {
		f(c.Key, c.Value)
	}
}

// newReading returns a reading whose lists are empty, not nil.
func newReading() *Reading {
	return &Reading{
		Git: record.Git{
			Args: []*string{}, Globals: map[string]string{}, Class: []string{}, Dangers: []string{},
			Refspecs: []record.Refspec{}, BranchTargets: []string{}, Config: []record.GitConfig{},
			Paths: []string{}, Unknown: []string{},
		},
		Writes: []record.PathUse{}, Runs: []Run{}, Incomplete: []string{},
	}
}

func (r *Reading) danger(codes ...string)     { r.Git.Dangers = add(r.Git.Dangers, codes...) }
func (r *Reading) class(names ...string)      { r.Git.Class = add(r.Git.Class, names...) }
func (r *Reading) incomplete(codes ...string) { r.Incomplete = add(r.Incomplete, codes...) }

func (r *Reading) finish() {
	slices.Sort(r.Git.Dangers)
	slices.SortFunc(r.Git.Class, func(a, b string) int { return slices.Index(classes, a) - slices.Index(classes, b) })
	slices.Sort(r.Git.BranchTargets)
	r.Git.BranchTargets = slices.Compact(r.Git.BranchTargets)
}

// classes is the order in which classes are listed.
var classes = []string{"read", "worktree", "index", "refs", "history", "config", "remote", "exec"}

// add appends the items that list does not have.
func add(list []string, items ...string) []string {
	for _, s := range items {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// join returns rel relative to dir; both are slash paths. An absolute rel, or one with "~", is
// returned as it is.
func join(dir, rel string) string {
	if dir == "" || strings.HasPrefix(rel, "/") || strings.HasPrefix(rel, "~") {
		return path.Clean(rel)
	}
	return path.Join(dir, rel)
}
