package gitrepo

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// conditions is what the conditions of includeIf are compared with; git-config(1), "Conditional
// includes".
type conditions struct {
	gitDir string // absolute, as found
	branch string // full name without refs/heads/, "" if detached
	place  bool   // only gitdir conditions are evaluated
}

// holds evaluates one condition. As in git, an unknown condition is false.
func (l *loader) holds(condition, file string) bool {
	kind, pattern, ok := strings.Cut(condition, ":")
	if !ok {
		return false
	}
	if l.place && kind != "gitdir" && kind != "gitdir/i" {
		return false
	}
	switch kind {
	case "gitdir":
		return l.inGitDir(pattern, file, false)
	case "gitdir/i":
		return l.inGitDir(pattern, file, true)
	case "onbranch":
		if strings.HasSuffix(pattern, "/") {
			pattern += "**"
		}
		return l.branch != "" && wild(pattern, l.branch)
	case "hasconfig":
		return l.hasURL(pattern)
	}
	return false
}

// inGitDir matches the git directory, both as found and with links resolved (config.c,
// include_by_gitdir).
func (l *loader) inGitDir(pattern, file string, fold bool) bool {
	if l.gitDir == "" {
		return false
	}
	pattern, ok := l.gitDirPattern(pattern, file)
	if !ok {
		return false
	}
	candidates := []string{l.gitDir}
	if real, err := filepath.EvalSymlinks(l.gitDir); err == nil {
		candidates = append(candidates, real)
	}
	for _, dir := range candidates {
		p := pattern
		if fold {
			p, dir = strings.ToLower(p), strings.ToLower(dir)
		}
		if wild(p, dir) {
			return true
		}
	}
	return false
}

func (l *loader) gitDirPattern(pattern, file string) (string, bool) {
	if strings.HasSuffix(pattern, "/") {
		pattern += "**"
	}
	if rest, ok := strings.CutPrefix(pattern, "./"); ok {
		return filepath.Dir(file) + "/" + rest, true
	}
	pattern, ok := l.expand(pattern)
	if !filepath.IsAbs(pattern) {
		pattern = "**/" + pattern
	}
	return pattern, ok
}

// hasURL matches hasconfig:remote.*.url:<glob>. On the first pass no address is known yet.
func (l *loader) hasURL(pattern string) bool {
	glob, ok := strings.CutPrefix(pattern, "remote.*.url:")
	if !ok {
		return false
	}
	if l.urls == nil {
		l.deferred = true
		return false
	}
	return slices.ContainsFunc(l.urls, func(url string) bool { return wild(glob, url) })
}

// wild matches like wildmatch.c with WM_PATHNAME: braces are literal, and "a/**" does not match
// "a".
func wild(pattern, name string) bool {
	if strings.HasSuffix(pattern, "/**") {
		pattern += "/*"
	}
	ok, err := doublestar.Match(strings.NewReplacer("{", `\{`, "}", `\}`).Replace(pattern), name)
	return ok && err == nil
}

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
