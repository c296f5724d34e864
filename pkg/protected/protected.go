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

// Single lists the paths that have one component. They are protected by name in every directory in
// which a program may be started.
func Single() []string {
	list := make([]string, 0, len(names))
	for _, n := range names {
		if !strings.Contains(n.Path, "/") {
			list = append(list, n.Path)
		}
	}
	return list
}

// Runs reports whether a path decides what an agent, an editor or ethos runs. rel is relative to the
// directory that contains the protected name (".claude/hooks/x"), and an agent is assumed to start
// in that directory. Editors count only at the root of a tree: they are not started in every
// directory, and many published packages and repositories contain a .vscode or an .idea, which a
// command may unpack or clone.
func Runs(rel string, root bool) bool {
	top, rest, below := strings.Cut(rel, "/")
	for _, n := range names {
		if !strings.EqualFold(n.Path, top) || n.Owner == Editor && !root {
			continue
		}
		if !below || len(n.Files) == 0 {
			return true
		}
		return slices.ContainsFunc(n.Files, func(pattern string) bool { return matches(pattern, rest) })
	}
	return false
}

// matches compares a path with a pattern of [Name.Files].
func matches(pattern, rel string) bool {
	if dir, tree := strings.CutSuffix(pattern, "**"); tree {
		return len(rel) > len(dir) && strings.EqualFold(rel[:len(dir)], dir)
	}
	ok, err := path.Match(pattern, strings.ToLower(rel))
	return err == nil && ok
}
