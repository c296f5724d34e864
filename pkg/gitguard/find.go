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
	Shim bool // a script, or a program of another name, that itself searches for git
}

// Search says where to search for the real git.
type Search struct {
	Self     Identity
	Path     string // PATH
	Explicit string // ETHOS_REAL_GIT
	Forbid   string // the work tree: no file in it is accepted as git
	NoShims  bool   // this process was started by a shim that searched for git
}

// The variables that Find reads. shimVariable is set only for a shim, so that two shims cannot call
// each other for ever.
const (
	realVariable = "ETHOS_REAL_GIT"
	shimVariable = "ETHOS_GIT_SHIM"
)

// Find returns the first git on PATH that is not ethos-git: not the same file under another name,
// nor a hard link or a symbolic link to it, nor a copy or another build of it, nor a script that
// calls it. It skips empty and relative entries of PATH, and those in the work tree. An explicit
// path must be trusted: see [Identity.Trusts]. In a sandbox in which every git on PATH is
// ethos-git, the real one is at record.InsideGit. The error is a *[Refusal].
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

// inside returns the real git of a sandbox. It is accepted only if its directory cannot be written,
// as in a sandbox.
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
		return Program{}, refuse("unset "+realVariable+" to search PATH, or set it to the absolute path of a git that belongs to root or to the owner of ethos-git, and that nobody else can write",
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

// candidate examines one file; the reason is "" if it can be git.
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

// isGit reports whether file, with symbolic links resolved, is named git. That is not so for
// version managers, in which one program stands for many names.
func isGit(file string) bool {
	resolved, err := filepath.EvalSymlinks(file)
	return err == nil && filepath.Base(resolved) == "git"
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/"))
}

func (g *Guard) realGit(c Call, worktree string) (Program, error) {
	return Find(Search{Self: g.Self, Path: c.getenv("PATH"), Explicit: c.getenv(realVariable), Forbid: worktree,
		NoShims: c.getenv(shimVariable) != ""})
}
