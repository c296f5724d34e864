package gitguard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ethos/pkg/record"
)

// Program is the git to run.
type Program struct {
	Path string
	Shim bool // it is a script, or a program of another name, that will look for git in turn
}

// Search says where to look for the real git.
type Search struct {
	Self     Identity
	Path     string // PATH
	Explicit string // ETHOS_REAL_GIT
	Forbid   string // the work tree: nothing in it is git
	NoShims  bool   // this process was started by a shim that looked for git
}

// The variables that Find heeds. shimVariable is set for a shim only, so that two of them cannot go on calling each other.
const (
	realVariable = "ETHOS_REAL_GIT"
	shimVariable = "ETHOS_GIT_SHIM"
)

// Find returns the first git of PATH that is not ethos-git: neither the same file under another name, a hard link or a
// symbolic link of it, nor a copy or another build of it, nor a script that calls it. Empty and relative entries of
// PATH, and those in the work tree, are passed over. An explicit path must be trusted: see [Identity.Trusts]. In a sandbox where
// ethos-git is every git of PATH, the real one is at record.InsideGit.
// The error is a *[Refusal].
func Find(s Search) (Program, error) {
	if s.Explicit != "" {
		return s.explicit()
	}
	if p, ok := s.inside(); ok {
		return p, nil
	}
	seen := ""
	for dir := range strings.SplitSeq(s.Path, string(os.PathListSeparator)) {
		if !filepath.IsAbs(dir) || within(s.Forbid, dir) {
			continue
		}
		p, reason := s.candidate(filepath.Join(dir, "git"))
		if reason == "" {
			return p, nil
		}
		if reason != absent && seen == "" {
			seen = fmt.Sprintf("; passed over %s: %s", p.Path, reason)
		}
	}
	return Program{}, &Refusal{Status: statusNotFound, Message: "find git: none on PATH beside ethos-git itself" + seen,
		Hint: "install git, or name it with " + realVariable}
}

// inside is the real git of a sandbox. Only there has its directory a place that cannot be written.
func (s Search) inside() (Program, bool) {
	if !closed(record.InsideGit) {
		return Program{}, false
	}
	p, reason := s.candidate(record.InsideGit)
	return p, reason == ""
}

// explicit checks ETHOS_REAL_GIT.
func (s Search) explicit() (Program, error) {
	refusal := func(reason string) (Program, error) {
		return Program{}, refuse("unset "+realVariable+" to search PATH, or name a git that root, or who installed ethos-git, owns and nobody else may write",
			"%s: %s: %s", realVariable, s.Explicit, reason)
	}
	if !filepath.IsAbs(s.Explicit) {
		return refusal("not an absolute path")
	}
	p, reason := s.candidate(filepath.Clean(s.Explicit))
	if reason != "" {
		return refusal(reason)
	}
	resolved, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return refusal(err.Error())
	}
	if within(s.Forbid, resolved) {
		return refusal("it is inside the work tree")
	}
	if reason := s.Self.Trusts(resolved); reason != "" {
		return refusal(reason)
	}
	return p, nil
}

const absent = "not there"

// candidate looks at one file; the reason is "" when it can be git.
func (s Search) candidate(file string) (Program, string) {
	p := Program{Path: file}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return p, absent
	case !info.Mode().IsRegular():
		return p, "not a regular file"
	case info.Mode()&0o111 == 0:
		return p, "not executable"
	case s.Self.Is(info):
		return p, "it is ethos-git itself"
	}
	kind, err := kindOf(file)
	switch {
	case err != nil:
		return p, err.Error()
	case kind == ourBuild:
		return p, "it is another build of ethos-git"
	case kind == ourScript:
		return p, "it calls ethos-git"
	}
	p.Shim = kind == script || !isGit(file)
	if p.Shim && s.NoShims {
		return p, "it is a shim that led back here"
	}
	return p, ""
}

// isGit reports whether file, behind its symbolic links, is called git: not so for version managers, whose one program stands
// for many names.
func isGit(file string) bool {
	resolved, err := filepath.EvalSymlinks(file)
	return err == nil && filepath.Base(resolved) == "git"
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

// realGit finds git for a call.
func (g *Guard) realGit(c Call, worktree string) (Program, error) {
	return Find(Search{Self: g.Self, Path: c.getenv("PATH"), Explicit: c.getenv(realVariable), Forbid: worktree,
		NoShims: c.getenv(shimVariable) != ""})
}
