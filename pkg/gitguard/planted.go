package gitguard

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/statedir"
)

// Trusted stores, for each work tree, what a person lets git run by itself there. The entries are
// those of [Executables].
type Trusted interface {
	Load(root string) ([]string, error) // nothing if no person has been asked
	Save(root string, list []string) error
}

// Executables returns what git runs by itself in a repository because of the repository's own
// content: its hooks, and the settings that name programs, in its own configuration and in that of
// the nested repositories that its index names. It leaves out the user's and the system's
// configuration. Each entry is one line: a word for its kind, its name, and a digest.
func Executables(r *gitrepo.Repository) ([]string, error) {
	list, err := executables(r, "")
	for _, link := range nested(r) {
		dir := filepath.Join(r.Record.Root, link)
		if inner, openErr := gitrepo.Open(dir, gitrepo.Options{}); openErr == nil && inner.Record.Root == dir {
			more, innerErr := executables(inner, link+":")
			list, err = append(list, more...), orErr(err, innerErr)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), err
}

func executables(r *gitrepo.Repository, place string) ([]string, error) {
	list := settings(r, place)
	hooks, err := r.Hooks()
	for _, h := range hooks {
		list = append(list, "hook "+oneLine(place+h.Name)+" "+h.SHA256)
	}
	return list, err
}

// settings returns the settings of the repository's own configuration that name programs.
func settings(r *gitrepo.Repository, place string) (list []string) {
	for _, e := range r.Config.Entries {
		if (e.Scope == "local" || e.Scope == "worktree") && gitargs.Executes(e.Key, e.Value) {
			sum := sha256.Sum256([]byte(e.Value))
			list = append(list, "config "+oneLine(place+e.Key)+" "+hex.EncodeToString(sum[:]))
		}
	}
	return list
}

// maxNested limits how many nested repositories are examined.
const maxNested = 200

// nested returns the repositories that the index names. git status enters each of them and obeys
// its configuration. If the index cannot be read, git cannot find them either.
func nested(r *gitrepo.Repository) []string {
	if r.Record.Root == "" || r.Record.GitDir == "" {
		return nil
	}
	links, _ := gitrepo.Gitlinks(r.Record.GitDir, r.Record.CommonDir)
	return links[:min(len(links), maxNested)]
}

// oneLine quotes a name that could be mistaken for several lines.
func oneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// inspect finds what the repository of a call would run that no person has trusted. It refuses an
// unknown trust mode.
func (g *Guard) inspect(l *looked) error {
	if l.modeErr != nil {
		return refuse(record.ModeHint, "%v", l.modeErr)
	}
	root := l.repo.Record.Root
	if g.Trusted == nil || root == "" || l.repo.Unsafe || closed(record.InsideGit) { // in a sandbox, what it runs is confined
		return nil
	}
	now, err := Executables(l.repo)
	if err != nil {
		return refuse("make it readable, or remove it", "look at the hooks of %s: %v", root, err)
	}
	if len(now) == 0 {
		return nil
	}
	trusted, err := g.Trusted.Load(home(l.repo))
	if err != nil {
		return refuse(cmp.Or(statedir.Hint(err), "a person looks at it, and writes it anew with: ethos-git ethos trust"), "what git may run in %s: %v", root, err)
	}
	l.planted = without(now, trusted)
	if len(l.planted) > 0 {
		l.addPlanted()
	}
	return nil
}

// home returns the work tree under which trust is stored: for linked work trees, which share hooks
// and configuration, the main one.
func home(r *gitrepo.Repository) string {
	if r.Record.GitDir != r.Record.CommonDir && filepath.Base(r.Record.CommonDir) == ".git" {
		return filepath.Dir(r.Record.CommonDir)
	}
	return r.Record.Root
}

// Trust stores what git may run by itself in the repository of dir, and returns the entries that
// were not trusted before. The entries of a linked work tree are added to those that are already
// trusted.
func (g *Guard) Trust(dir string, getenv func(string) string) (added []string, err error) {
	repo, err := gitrepo.Open(dir, lookUp(getenv))
	if err != nil {
		return nil, err
	}
	root := repo.Record.Root
	switch {
	case repo.Unsafe:
		return nil, fmt.Errorf("%s belongs to somebody else, and safe.directory does not name it", cmp.Or(root, dir))
	case root == "":
		return nil, fmt.Errorf("%s is in no work tree of git", dir)
	}
	now, err := Executables(repo)
	if err != nil {
		return nil, err
	}
	trusted, _ := g.Trusted.Load(home(repo)) // an entry that cannot be read trusts nothing
	added = without(now, trusted)
	if home(repo) != root {
		now = append(trusted, added...)
		slices.Sort(now)
	}
	return added, g.Trusted.Save(home(repo), now)
}

func without(list, known []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(known, s) })
}

// plantedExec is the danger of a command that would run an injected program.
const plantedExec = "planted_exec"

// addPlanted adds the injected programs that the command would run to the facts.
func (l *looked) addPlanted() {
	g := &l.reading.Git
	for _, entry := range l.planted {
		kind, rest, _ := strings.Cut(entry, " ")
		name := rest[:max(strings.LastIndexByte(rest, ' '), 0)]
		if kind == "hook" {
			name = "hooks/" + name
		}
		if !l.reaches(kind, name) {
			continue
		}
		g.Config = append(g.Config, record.GitConfig{Key: strings.ToValidUTF8(name, "\uFFFD"), Via: "planted"})
		g.Dangers = append(g.Dangers, plantedExec)
	}
	slices.Sort(g.Dangers)
	g.Dangers = slices.Compact(g.Dangers)
}

// indexOnly are commands that change only the index and files. The only hook that they run is the
// one for a change of the index.
var indexOnly = []string{"add", "stage", "rm", "mv", "update-index", "checkout-index", "read-tree", "apply", "clean"}

// reaches reports whether the command could run an injected program. Hooks belong to commands that
// change something, except the hook for the index, because git status refreshes the index. Commands
// that only show stored data reach neither that hook nor a setting.
func (l *looked) reaches(kind, name string) bool {
	class, subcommand := l.reading.Git.Class, l.reading.Git.Subcommand
	if kind == "hook" && !strings.HasSuffix(name, "post-index-change") {
		return !reads(class) && !slices.Contains(indexOnly, subcommand)
	}
	shows := []string{"", "config", "version", "help", "rev-parse", "hook"}
	return !reads(class) || !slices.Contains(shows, subcommand)
}
