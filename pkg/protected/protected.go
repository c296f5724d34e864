// Package protected lists the paths whose mere existence decides which code runs outside of the
// sandbox, or under which policy: the settings of agents and editors, and ethos's own files.
// Package facts uses the list to judge what a file tool writes, and package sandbox to judge what a
// command creates. Begin with [Names].
//
//	for _, n := range protected.Names() { … n.Path … n.Files … }
//
// The list contains files that a program executes without a further question once a person opens
// the folder with it. It does not contain files that only instruct an agent (AGENTS.md,
// .cursorrules), nor files that run when a person or a server starts them (.husky, .devcontainer,
// the workflows in .github): see the threat model.
package protected

import (
	"path"
	"slices"
	"strings"
)

// Owner is the kind of program that obeys a protected path.
type Owner string

// The owners.
const (
	Ethos    Owner = "ethos"
	Settings Owner = "settings" // settings of an agent
	Editor   Owner = "editor"   // settings of an editor
)

// Name is one protected path in the root of a work tree.
type Name struct {
	Path string // relative to the root; several components only if the first one alone decides nothing
	Dir  bool   // a directory
	Owner
	// Files are patterns for the parts of a directory that cause code to run. "*" stands for any
	// part of one name, "/**" for everything below. A file tool may write the other parts; a
	// confined command may write nothing in the directory. It is empty for a file.
	Files []string
}

// Names lists the protected paths. The caller must not change the slice.
func Names() []Name { return names }

// Paths lists the protected paths. They are protected in every directory in which a program may be
// started.
func Paths() []string {
	list := make([]string, 0, len(names))
	for _, n := range names {
		list = append(list, n.Path)
	}
	return list
}

// Runs reports whether a file at a path decides what an agent, an editor or ethos runs. rel is
// relative to the directory that contains the protected name (".claude/hooks/x"), and an agent is
// assumed to start in that directory. Editors count only at the root of a tree: they are not started
// in every directory, and many published packages and repositories contain a .vscode or an .idea,
// which a command may unpack or clone.
func Runs(rel string, root bool) bool {
	return decides(rel, root, false, func(n Name, rest []string) bool {
		return len(rest) == 0 || len(n.Files) == 0 || slices.ContainsFunc(n.Files, func(pattern string) bool { return matches(pattern, rest) })
	})
}

// Leads reports whether a file at a path, or anything that can lie below the path, decides what runs,
// in the sense of [Runs]. It says what a link or a directory there is worth: everything that it leads
// to has a path below.
func Leads(rel string, root bool) bool {
	return decides(rel, root, true, func(n Name, rest []string) bool {
		return len(rest) == 0 || len(n.Files) == 0 || slices.ContainsFunc(n.Files, func(pattern string) bool { return leads(pattern, rest) })
	})
}

// decides asks about the rest of a path below the protected path that it begins with; part reports
// whether the path is only the beginning of one.
func decides(rel string, root bool, part bool, ask func(n Name, rest []string) bool) bool {
	parts := strings.Split(rel, "/")
	for _, n := range names {
		own := strings.Split(n.Path, "/")
		common := min(len(own), len(parts))
		if n.Owner == Editor && !root || !slices.EqualFunc(own[:common], parts[:common], strings.EqualFold) {
			continue
		}
		if common < len(own) {
			return part
		}
		return ask(n, parts[common:])
	}
	return false
}

// matches compares a path with a pattern of [Name.Files].
func matches(pattern string, rest []string) bool {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch {
		case i == len(rest):
			return false
		case part == "**":
			return true
		case !matchesName(part, rest[i]):
			return false
		}
	}
	return len(parts) == len(rest)
}

// leads reports whether a path matches a pattern of [Name.Files], or a path below it can.
func leads(pattern string, rest []string) bool {
	for i, part := range strings.Split(pattern, "/") {
		switch {
		case i == len(rest), part == "**":
			return true
		case !matchesName(part, rest[i]):
			return false
		}
	}
	return strings.Count(pattern, "/") == len(rest)-1
}

func matchesName(pattern, name string) bool {
	if strings.EqualFold(pattern, name) {
		return true
	}
	ok, err := path.Match(pattern, strings.ToLower(name))
	return err == nil && ok
}
