package gitrepo

import (
	"path/filepath"
	"slices"
	"strings"
)

// ProtectedNames returns the branches that are protected in each repository.
func ProtectedNames() []string { return []string{"main", "master"} }

// describe fills the record from the configuration.
func (r *Repository) describe() {
	for _, e := range r.Config.Entries {
		section, rest, _ := strings.Cut(e.Key, ".")
		switch section {
		case "alias":
			r.Record.Aliases[aliasName(rest)] = e.Value
		case "remote":
			if i := strings.LastIndexByte(rest, '.'); i > 0 && !slices.Contains(r.Record.Remotes, rest[:i]) {
				r.Record.Remotes = append(r.Record.Remotes, rest[:i])
			}
		}
	}
	slices.Sort(r.Record.Remotes)
	r.Record.PushDefault, _ = r.Config.Get("push.default")
	r.Record.Upstream = r.upstream()
	r.protect()
}

// aliasName returns NAME of alias.NAME and of alias.NAME.command (git 2.53).
func aliasName(rest string) string {
	if name, ok := strings.CutSuffix(rest, ".command"); ok {
		return name
	}
	return rest
}

// upstream returns remote/branch of the current branch. A branch of the same repository has no
// remote part.
func (r *Repository) upstream() string {
	if r.Record.Branch == "" {
		return ""
	}
	remote, hasRemote := r.Config.Get("branch." + r.Record.Branch + ".remote")
	merge, hasMerge := r.Config.Get("branch." + r.Record.Branch + ".merge")
	if !hasRemote || !hasMerge {
		return ""
	}
	short := strings.TrimPrefix(merge, heads)
	if remote == "." {
		return short
	}
	return remote + "/" + short
}

// protect adds the branch to which each remote's HEAD points.
func (r *Repository) protect() {
	if r.Record.CommonDir == "" {
		return
	}
	for _, remote := range r.Record.Remotes {
		prefix := "refs/remotes/" + remote + "/"
		if !refName(prefix + "HEAD") {
			continue
		}
		target, ok, err := symbolic(filepath.Join(r.Record.CommonDir, prefix+"HEAD"))
		branch, under := strings.CutPrefix(target, prefix)
		if err == nil && ok && under && !slices.Contains(r.Record.ProtectedBranches, branch) {
			r.Record.ProtectedBranches = append(r.Record.ProtectedBranches, branch)
		}
	}
}
