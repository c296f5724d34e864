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

// Trusted keeps, for each work tree, what a person lets git run by itself there. The entries are those of [Executables].
type Trusted interface {
	Load(root string) ([]string, error) // nothing, where nobody was asked
	Save(root string, list []string) error
}

// Executables are what git runs by itself in a repository, by the repository's own means: its hooks, and the settings of its own configuration that name
// programs, and those of the repositories in it that its index names. The user's and the system's configuration are not among them. Each is one line: a word for its kind, its name, and a digest.
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

// settings are those of the repository's own configuration that name programs.
func settings(r *gitrepo.Repository, place string) (list []string) {
	for _, e := range r.Config.Entries {
		if (e.Scope == "local" || e.Scope == "worktree") && gitargs.Executes(e.Key, e.Value) {
			sum := sha256.Sum256([]byte(e.Value))
			list = append(list, "config "+oneLine(place+e.Key)+" "+hex.EncodeToString(sum[:]))
		}
	}
	return list
}

// maxNested bounds how many repositories within one are looked into.
const maxNested = 200

// nested are the repositories that the index names: git status looks into each, and heeds its configuration. An index that cannot be read names none for git either.
func nested(r *gitrepo.Repository) []string {
	if r.Record.Root == "" || r.Record.GitDir == "" {
		return nil
	}
	links, _ := gitrepo.Gitlinks(r.Record.GitDir, r.Record.CommonDir)
	return links[:min(len(links), maxNested)]
}

// oneLine quotes a name that could be taken for several lines.
func oneLine(name string) string {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return strconv.Quote(name)
	}
	return name
}

// inspect finds out what the repository of a call would run that no person has trusted.
func (g *Guard) inspect(l *looked) error {
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

// home is the work tree in which trust is kept: for linked ones, which share hooks and configuration, the first.
func home(r *gitrepo.Repository) string {
	if r.Record.GitDir != r.Record.CommonDir && filepath.Base(r.Record.CommonDir) == ".git" {
		return filepath.Dir(r.Record.CommonDir)
	}
	return r.Record.Root
}

// Trust remembers what git may run by itself in the repository of dir from now on, and returns what was not trusted before. What a linked work tree has of its own comes to
// what is trusted already.
func (g *Guard) Trust(dir string, getenv func(string) string) (added []string, err error) {
	repo, err := gitrepo.Open(dir, lookUp(getenv))
	if err != nil {
		return nil, err
	}
	root := repo.Record.Root
	switch {
	case repo.Unsafe:
		return nil, fmt.Errorf("%s belongs to somebody else, and safe.directory does not name it", orElse(root, dir))
	case root == "":
		return nil, fmt.Errorf("%s is in no work tree of git", dir)
	}
	now, err := Executables(repo)
	if err != nil {
		return nil, err
	}
	trusted, _ := g.Trusted.Load(home(repo)) // one that cannot be read trusts nothing
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

// plantedExec is the danger of a command that would run something planted.
const plantedExec = "planted_exec"

// addPlanted adds to the facts what the command would run of what was planted.
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

// indexOnly are commands that change the index and files alone: of the hooks they run that of the index, and no other.
var indexOnly = []string{"add", "stage", "rm", "mv", "update-index", "checkout-index", "read-tree", "apply", "clean"}

// reaches reports whether the command could run what was planted: hooks belong to commands that change something, but for the one of the index, which git status refreshes,
// and that and a setting are not reached by those that show what there is.
func (l *looked) reaches(kind, name string) bool {
	class, subcommand := l.reading.Git.Class, l.reading.Git.Subcommand
	if kind == "hook" && !strings.HasSuffix(name, "post-index-change") {
		return !reads(class) && !slices.Contains(indexOnly, subcommand)
	}
	shows := []string{"", "config", "version", "help", "rev-parse", "hook"}
	return !reads(class) || !slices.Contains(shows, subcommand)
}
