package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"ethos/pkg/gitargs"
	"ethos/pkg/gitrepo"
	"ethos/pkg/record"
	"ethos/pkg/shell"
)

// made is what a script does to the directories that it works in.
type made struct {
	byGit, byMkdir []string // directories that it creates, as absolute paths
	others         []string // its other writes; "" is unknown
	deleted        []string // what it deletes
}

func madeBy(a shell.Analysis) (m made) {
	for i, u := range a.Shell.Writes {
		abs := a.Writes[i]
		switch {
		case u.Op == "create" && u.By == "git" && abs != "":
			m.byGit = append(m.byGit, path.Clean(abs))
		case u.Op == "create" && (u.By == "mkdir" || u.By == "mktemp") && abs != "":
			m.byMkdir = append(m.byMkdir, path.Clean(abs))
		case u.Op == "delete" && abs != "":
			m.deleted = append(m.deleted, path.Clean(abs))
		case u.Op == "mount": // as other programs, the container is not taken to replace the repository
		default:
			m.others = append(m.others, cleaned(abs))
		}
	}
	for i := range a.Shell.Commands {
		if dir := clonedBy(&a.Shell.Commands[i]); dir != "" && a.Cwds[i] != "" {
			m.byGit = append(m.byGit, sentTo(a.Cwds[i], dir))
		}
	}
	return m
}

// clonedBy returns the directory that gh repo clone REPOSITORY [DIRECTORY] creates, or "".
func clonedBy(c *record.Command) string {
	if c.Name != "gh" || len(c.Argv) < 4 {
		return ""
	}
	words := make([]string, 2)
	for i, word := range c.Argv[1:min(5, len(c.Argv))] {
		switch {
		case word == nil:
			return ""
		case i == 2:
			words[0] = strings.TrimSuffix(path.Base(*word), ".git")
		case i == 3 && !strings.HasPrefix(*word, "-"):
			words[1] = *word
		}
	}
	if *c.Argv[1] != "repo" || *c.Argv[2] != "clone" || strings.HasPrefix(*c.Argv[3], "-") {
		return ""
	}
	return cmp.Or(words[1], words[0])
}

// holds reports whether dir is one of the directories or lies below one.
func holds(dirs []string, dir string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(dir, d) })
}

// touches reports whether another write may replace dir or its repository, or make it a link.
func (m made) touches(dir string) bool {
	return slices.ContainsFunc(m.others, func(w string) bool {
		return w == "" || within(dir, w) || within(w, dir+"/.git")
	}) || slices.ContainsFunc(m.deleted, func(w string) bool { return within(w, dir+"/.git") })
}

// newAt returns the state of the repository around a directory that the script creates. `git
// clone`, `git init` and `git worktree add` create one with at most the configuration that applies
// where the script starts; `mkdir`, which also creates what is above it, creates a part of the
// surrounding work tree.
func (g *gitWork) newAt(dir string) (gitargs.Context, bool) {
	if g.made.touches(dir) {
		return gitargs.Context{}, false
	}
	switch {
	case holds(g.made.byGit, dir):
		ctx := g.contextAt(g.action.Cwd, gitrepo.Options{})
		ctx.Refs = nil
		ctx.Repo.Branch, ctx.Repo.Detached, ctx.Repo.Upstream = "", false, ""
		return ctx, true
	case holds(g.made.byMkdir, dir), slices.ContainsFunc(g.made.byMkdir, func(d string) bool { return within(d, dir) }):
		return g.contextAt(path.Dir(dir), gitrepo.Options{}), true
	}
	return gitargs.Context{}, false
}

// cleaned is path.Clean, except that "" stays "".
func cleaned(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}
