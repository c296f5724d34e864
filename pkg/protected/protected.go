// Package protected names what decides, by being there, which code runs outside
// of the sandbox or under which policy: the settings of agents and editors, and
// ethos's own files. It is data, for package facts, which judges what a file
// tool writes, and for package sandbox, which judges what a command makes.
//
//	for _, n := range protected.Names() { … n.Path … n.Files … }
//
// Named here is what is run without another question once a person opens the
// folder with the program concerned. What only instructs (AGENTS.md,
// .cursorrules), and what runs when a person or a server starts it (.husky,
// .devcontainer, the workflows of .github), is not: see the threat model.
package protected

import (
	"path"
	"slices"
	"strings"
)

// Owner says who obeys a name.
type Owner string

// The owners.
const (
	Ethos    Owner = "ethos"
	Settings Owner = "settings" // of an agent
	Editor   Owner = "editor"   // settings of an editor
)

// Name is one path that is protected in the root of a work tree.
type Name struct {
	Path string // relative to the root; more than one component only where the first one alone decides nothing
	Dir  bool   // a directory
	Owner
	// Files are the parts of a directory that run something, as patterns: a "*"
	// stands for any part of one name, "/**" for everything below. A file tool
	// may write the rest; a confined command writes nothing in it. A file has
	// none.
	Files []string
}

// names: the documentation of each program says where it looks.
var names = []Name{
	{Path: "coding_ethos.yml", Owner: Ethos},
	{Path: "repo_config.yaml", Owner: Ethos},

	// Claude Code: settings, MCP servers.
	{Path: ".claude", Dir: true, Owner: Settings, Files: []string{"settings*.json", "hooks/**", "plugins/**"}},
	{Path: ".mcp.json", Owner: Settings},
	// Codex CLI.
	{Path: ".codex", Dir: true, Owner: Settings, Files: []string{"**"}},
	// Gemini CLI.
	{Path: ".gemini", Dir: true, Owner: Settings, Files: []string{"settings.json", "hooks/**", "extensions/**", "policies/**"}},
	// Cursor.
	{Path: ".cursor", Dir: true, Owner: Settings, Files: []string{"hooks.json", "hooks/**", "mcp.json", "cli.json", "permissions.json", "sandbox.json"}},
	// Copilot CLI.
	{Path: ".github/hooks", Dir: true, Owner: Settings, Files: []string{"**"}},
	// OpenCode.
	{Path: ".opencode", Dir: true, Owner: Settings, Files: []string{"plugin/**", "plugins/**", "tool/**"}},
	{Path: "opencode.json", Owner: Settings},
	{Path: "opencode.jsonc", Owner: Settings},
	// Skills and plug-ins that several agents share.
	{Path: ".agents", Dir: true, Owner: Settings, Files: []string{"**"}},
	// Visual Studio Code: tasks that run when the folder is opened, paths of
	// interpreters, MCP servers.
	{Path: ".vscode", Dir: true, Owner: Editor, Files: []string{"settings.json", "tasks.json", "launch.json", "mcp.json"}},
	// IntelliJ IDEA and its relatives: run configurations, start-up tasks, file
	// watchers.
	{Path: ".idea", Dir: true, Owner: Editor, Files: []string{"**"}},
}

// Names lists them. The caller does not change it.
func Names() []Name { return names }

// Single lists the paths of one component: they are protected by that name in
// whatever directory a program may be started.
func Single() []string {
	list := make([]string, 0, len(names))
	for _, n := range names {
		if !strings.Contains(n.Path, "/") {
			list = append(list, n.Path)
		}
	}
	return list
}

// RunsBelow reports whether a path below the root of a work tree, given from the
// directory in which a protected name stands (".claude/hooks/x"), decides what
// an agent or ethos runs that is started there. Editors are not started in
// every directory of a tree, and most published packages and repositories have
// a .vscode or an .idea: what a command unpacks or clones keeps them.
func RunsBelow(rel string) bool {
	top, rest, below := strings.Cut(rel, "/")
	for _, n := range names {
		if !strings.EqualFold(n.Path, top) || n.Owner == Editor {
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
