package facts

import (
	"path"
	"slices"
	"strings"

	"ethos/pkg/lazy"
	"ethos/pkg/protected"
)

// The classes of a protected path, the strongest first.
const (
	classGit         = "git"           // git's own files, through which it can be made to run code
	classEthos       = "ethos"         // files that determine ethos's own decisions
	classState       = "ethos-state"   // what a person has trusted
	classProgram     = "ethos-program" // an installed program of ethos
	classCredentials = "credentials"
	classSettings    = "agent-settings" // files that control an agent's later commands
	classStartup     = "shell-startup"  // files that run at the next login, shell, boot or timer
	classCI          = "ci"             // files that run elsewhere with other rights
)

// place is what paths are judged against.
type place struct {
	workspace, home  string
	state            string // the state folder of ethos
	gitDir, gitCover string // the repository's own directories, wherever they are
}

// index groups the rules by the first name of their pattern, so that each path is compared with few
// of them. They may overlap; the class whose constant comes first applies. Comparison ignores case,
// because on file systems that ignore it (and with core.ignoreCase) both names lead to the same
// file: CVE-2014-9390.
type index struct {
	root, home, workspace, anywhere map[string][]protected.Rule
}

var indexed = lazy.Value[index]{Make: func() index {
	x := index{map[string][]protected.Rule{}, map[string][]protected.Rule{}, map[string][]protected.Rule{}, map[string][]protected.Rule{}}
	for _, r := range protected.Rules() {
		group, pattern := x.anywhere, r.Pattern
		switch {
		case pattern[0] == '/':
			group, pattern = x.root, pattern[1:]
		case strings.HasPrefix(pattern, "~/"):
			group, pattern = x.home, pattern[2:]
		case strings.HasPrefix(pattern, "./"):
			group, pattern = x.workspace, pattern[2:]
		}
		first, _, _ := strings.Cut(pattern, "/")
		if strings.ContainsRune(first, '*') {
			first = "*"
		}
		group[first] = append(group[first], protected.Rule{Class: r.Class, Pattern: pattern})
	}
	return x
}}

// protected returns the class of an absolute, clean path, or "".
func (p place) protected(name string) string {
	for _, dir := range []string{p.gitDir, p.gitCover} {
		if dir != "" && within(name, dir) {
			return classGit
		}
	}
	lower, x := strings.ToLower(name), indexed.Get()
	if p.state != "" && within(lower, strings.ToLower(p.state)) {
		return classState
	}
	class := classOf(x.root, strings.TrimPrefix(lower, "/"))
	if rest, ok := below(lower, strings.ToLower(p.home)); ok {
		class = worse(class, classOf(x.home, rest))
	}
	if rest, ok := protected.BelowHome(lower); ok {
		class = worse(class, classOf(x.home, rest))
	}
	if protected.EnvFile(lower) {
		class = worse(class, classCredentials)
	}
	if rest, ok := below(lower, strings.ToLower(p.workspace)); ok {
		class = worse(class, classOf(x.workspace, rest))
	}
	for i := range lower {
		if lower[i] == '/' {
			class = worse(class, classOf(x.anywhere, lower[i+1:]))
		}
	}
	return class
}

// classOf compares the beginning of a path with one group of rules.
func classOf(group map[string][]protected.Rule, rest string) (class string) {
	first, _, _ := strings.Cut(rest, "/")
	for _, key := range [...]string{first, "*"} {
		for _, r := range group[key] {
			if matchTree(r.Pattern, rest) {
				class = worse(class, r.Class)
			}
		}
	}
	return class
}

// below returns the part of name after dir.
func below(name, dir string) (string, bool) {
	if dir == "" || !within(name, dir) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, dir), "/"), true
}

// within reports whether name is dir or lies below it; both are absolute and clean.
func within(name, dir string) bool {
	return name == dir || dir == "/" || strings.HasPrefix(name, dir+"/")
}

// matchTree compares name with a pattern, component by component.
func matchTree(pattern, name string) bool {
	for {
		want, restWanted, moreWanted := strings.Cut(pattern, "/")
		have, rest, more := strings.Cut(name, "/")
		if want == "**" {
			return true
		}
		if want != have && !(strings.ContainsRune(want, '*') && wildcard(want, have)) {
			return false
		}
		switch {
		case !moreWanted:
			return !more
		case !more:
			return restWanted == "**"
		}
		pattern, name = restWanted, rest
	}
}

func wildcard(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// severity lists the classes, the strongest first.
var severity = [...]string{classGit, classState, classProgram, classEthos, classCredentials, classSettings, classStartup, classCI}

func worse(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	if slices.Index(severity[:], b) < slices.Index(severity[:], a) {
		return b
	}
	return a
}

// Covers reports whether a class of [record.File.Protected] is at least as strong as another one.
// An unknown class covers none.
func Covers(class, other string) bool {
	at := slices.Index(severity[:], class)
	return other == "" || at >= 0 && at <= slices.Index(severity[:], other)
}
