package protected

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// TestNames: each path is clean, relative, lower case and there once; a
// directory says what in it runs something, a file does not.
func TestNames(t *testing.T) {
	var seen []string
	for _, n := range Names() {
		if n.Path != path.Clean(n.Path) || path.IsAbs(n.Path) || strings.HasPrefix(n.Path, "..") || n.Path != strings.ToLower(n.Path) {
			t.Errorf("%q is not a clean relative path in lower case", n.Path)
		}
		if slices.Contains(seen, n.Path) {
			t.Errorf("%q is there twice", n.Path)
		}
		seen = append(seen, n.Path)
		if n.Dir != (len(n.Files) > 0) {
			t.Errorf("%q: Dir is %v and Files are %q", n.Path, n.Dir, n.Files)
		}
		if n.Owner != Ethos && n.Owner != Settings && n.Owner != Editor {
			t.Errorf("%q: owner %q", n.Path, n.Owner)
		}
	}
	if !slices.Equal(Paths(), seen) {
		t.Errorf("%q are not the paths", Paths())
	}
}

func TestRuns(t *testing.T) {
	for rel, want := range map[string]bool{
		".mcp.json": true, "REPO_CONFIG.yaml": true, ".claude": true, ".claude/settings.json": true, ".claude/Settings.Local.json": true, ".claude/hooks/a/b": true, ".codex/config.toml": true,
		".claude/agents/reviewer.md": false, ".claude/hooks": false, ".vscode/tasks.json": false, ".idea/workspace.xml": false, "README.md": false, ".github/hooks/x": true, ".GitHub/hooks/a/b": true, ".github": false, ".github/workflows/x": false,
	} {
		if got := Runs(rel, false); got != want {
			t.Errorf("Runs(%q, false) = %v", rel, got)
		}
	}
	for rel, want := range map[string]bool{".vscode/tasks.json": true, ".vscode/readme": false, ".idea/workspace.xml": true, ".claude/hooks/a": true, "README.md": false} {
		if got := Runs(rel, true); got != want {
			t.Errorf("Runs(%q, true) = %v", rel, got)
		}
	}
}

func TestLeads(t *testing.T) {
	for rel, want := range map[string]bool{
		".claude": true, ".claude/hooks": true, ".claude/Plugins": true, ".claude/plugins/a": true, ".claude/settings.json": true, ".opencode/plugin": true, ".gemini/extensions": true, ".codex": true,
		".codex/a": true, ".github": true, ".github/hooks": true, ".github/hooks/a": true, ".github/workflows": false, ".claude/skills": false, ".claude/settings.json/a": false, ".opencode/themes": false, ".vscode": false, "claude": false, "hooks": false,
	} {
		if got := Leads(rel, false); got != want {
			t.Errorf("Leads(%q, false) = %v", rel, got)
		}
		if Runs(rel, false) && !want {
			t.Errorf("%q runs and leads to nothing that does", rel)
		}
	}
	if !Leads(".vscode", true) || !Leads(".vscode/tasks.json", true) || Leads(".vscode/notes", true) {
		t.Error("an editor's settings at the root of a tree")
	}
}
