package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ethos/pkg/protected"
	"ethos/pkg/record"
)

func TestProtected(t *testing.T) {
	p := place{workspace: "/home/u/site", home: "/home/u", state: "/var/state/ethos", gitDir: "/srv/git/site.git/worktrees/x", gitCover: "/srv/git/site.git"}
	for name, want := range map[string]string{
		"/home/u/site/.git":                        "git",
		"/home/u/site/.git/hooks/pre-commit":       "git",
		"/home/u/site/.GIT/config":                 "git", // CVE-2014-9390
		"/home/u/site/sub/.git":                    "git",
		"/srv/git/site.git/config":                 "git", // where a linked work tree keeps it
		"/srv/git/site.git2/config":                "",
		"/home/u/.gitconfig":                       "git",
		"/home/u/.config/git/config":               "git",
		"/home/u/site/.gitignore":                  "",
		"/home/u/site/.github/CODEOWNERS":          "",
		"/home/u/site/.github/workflows/ci.yml":    "ci",
		"/home/u/site/.github/workflows":           "ci",
		"/home/u/site/.gitlab-ci.yml":              "ci",
		"/home/u/site/Jenkinsfile":                 "ci",
		"/home/u/site/docs/Jenkinsfile":            "",
		"/home/u/site/coding_ethos.yml":            "ethos",
		"/home/u/site/repo_config.yaml":            "ethos",
		"/home/u/site/examples/repo_config.yaml":   "",
		"/home/u/site/.coding-ethos/traces/a":      "ethos",
		"/home/u/.local/state/ethos":               "ethos-state",
		"/home/u/.local/state/ethos/trust/x":       "ethos-state",
		"/home/u/.local/state/other":               "",
		"/var/state/Ethos/trust":                   "ethos-state", // XDG_STATE_HOME
		"/var/state/other":                         "",
		"/home/u/site/.claude/settings.json":       "agent-settings",
		"/home/u/site/.claude/settings.local.json": "agent-settings",
		"/home/u/site/.claude/commands/review.md":  "",
		"/home/u/site/CLAUDE.md":                   "",
		"/home/u/.claude/settings.json":            "agent-settings",
		"/home/u/.claude/.credentials.json":        "credentials",
		"/home/u/site/.codex/config.toml":          "agent-settings",
		"/home/u/site/.mcp.json":                   "agent-settings",
		"/home/u/site/.cursor/hooks.json":          "agent-settings",
		"/home/u/site/.cursor/rules/go.mdc":        "",
		"/home/u/site/.gemini/settings.json":       "agent-settings",
		"/home/u/site/.vscode/settings.json":       "agent-settings",
		"/home/u/site/.opencode/plugin/ethos.ts":   "agent-settings",
		"/home/u/site/.opencode/tools/x.ts":        "agent-settings",
		"/home/u/site/.cursor/worktrees.json":      "agent-settings",
		"/home/u/site/sub/.idea/workspace.xml":     "agent-settings",
		"/home/u/site/.agents/skills/x/SKILL.md":   "agent-settings",
		"/home/u/site/.github/hooks/pre.json":      "agent-settings",
		"/home/u/.ssh":                             "credentials",
		"/home/u/.ssh/id_ed25519":                  "credentials",
		"/home/u/.SSH/config":                      "credentials",
		"/home/u/.sshfs":                           "",
		"/home/other/.ssh/id_rsa":                  "credentials",
		"/root/.ssh/authorized_keys":               "credentials",
		"/home/u/site/id_rsa":                      "credentials",
		"/home/u/site/id_rsa.pub":                  "",
		"/home/u/.aws/credentials":                 "credentials",
		"/home/u/.netrc":                           "credentials",
		"/home/u/.bash_history":                    "credentials",
		"/home/u/.npmrc":                           "credentials",
		"/home/u/site/.npmrc":                      "",
		"/home/u/site/.env":                        "credentials",
		"/home/u/site/web/.env.local":              "credentials",
		"/home/u/site/.env.example":                "",
		"/home/u/site/.envrc":                      "",
		"/etc/shadow":                              "credentials",
		"/etc/passwd":                              "",
		"/proc/self/environ":                       "credentials",
		"/proc/1/environ":                          "credentials",
		"/home/u/.bashrc":                          "shell-startup",
		"/home/u/.config/systemd/user/x.service":   "shell-startup",
		"/home/u/.config/fish/config.fish":         "shell-startup",
		"/home/u/site/.bashrc":                     "",
		"/etc/cron.d/x":                            "shell-startup",
		"/etc/profile.d/x.sh":                      "shell-startup",
		"/home/u/site/main.go":                     "",
		"/home/u/site":                             "",
		"/home/u":                                  "",
		"/":                                        "",
	} {
		if have := p.protected(name); have != want {
			t.Errorf("%s: have %q, want %q", name, have, want)
		}
	}
}

// A pattern that no path can have protects nothing.
func TestEveryRuleProtectsSomething(t *testing.T) {
	p := place{workspace: "/w", home: "/h"}
	for _, r := range protected.Rules() {
		name := strings.NewReplacer("~/", "/h/", "./", "/w/").Replace(r.Pattern)
		if !strings.HasPrefix(name, "/") {
			name = "/any/" + name
		}
		name = strings.ReplaceAll(strings.ReplaceAll(name, "/**", "/x"), "*", "x")
		if have := p.protected(name); have == "" {
			t.Errorf("%s: %s is not protected", r.Pattern, name)
		}
		if r.Pattern != strings.ToLower(r.Pattern) {
			t.Errorf("%s: patterns are compared in lower case", r.Pattern)
		}
	}
}

func collect(root string, add func(*fileFacts)) (string, []string) {
	l := &lacks{}
	f := newFileFacts(&Deriver{opt: Options{Tree: OS{}}}, place{workspace: root + "/w", home: root + "/h"}, l)
	add(f)
	var out []string
	for _, file := range f.files {
		line := fmt.Sprintf("%s %s = %s", file.Op, file.Path, file.Resolved)
		if file.InsideWorkspace {
			line += " inside:" + file.WorkspaceRelative
		}
		if file.ViaSymlink {
			line += " link"
		}
		if file.Exists {
			line += " exists"
		}
		if file.Protected != "" {
			line += " !" + file.Protected
		}
		out = append(out, strings.ReplaceAll(line, root, ""))
	}
	return strings.Join(out, "\n"), l.codes
}

func TestFileActions(t *testing.T) {
	root := grow(t, "w/src/a.go", "w/.git/hooks/", "w/docs -> ../w/.git/hooks", "w/notes -> ROOT/h/.ssh/id", "h/.ssh/id", "w/.claude/settings.json -> ROOT/tmp/other", "tmp/other", "w/out -> ../elsewhere")
	for _, c := range []struct {
		action record.FileAction
		want   string
		lacks  string
	}{
		{record.FileAction{Op: "edit", Path: "src/a.go"}, "edit src/a.go = /w/src/a.go inside:src/a.go exists", ""},
		{record.FileAction{Op: "write", Path: "new/deep/b.go"}, "write new/deep/b.go = /w/new/deep/b.go inside:new/deep/b.go", ""},
		{record.FileAction{Op: "write", Path: "docs/pre-commit"}, "write docs/pre-commit = /w/.git/hooks/pre-commit inside:.git/hooks/pre-commit link !git", ""},
		{record.FileAction{Op: "read", Path: "notes"}, "read notes = /h/.ssh/id link exists !credentials", ""},
		{record.FileAction{Op: "delete", Path: "notes"}, "delete notes = /w/notes inside:notes exists", ""},
		{record.FileAction{Op: "write", Path: ".claude/settings.json"}, "write .claude/settings.json = /tmp/other link exists !agent-settings", ""},
		{record.FileAction{Op: "write", Path: "out/x"}, "write out/x = /elsewhere/x link", ""},
		{record.FileAction{Op: "read", Path: "~/.ssh/id"}, "read ~/.ssh/id = /h/.ssh/id exists !credentials", ""},
		{record.FileAction{Op: "read", Path: "src/../../h/.ssh/id"}, "read src/../../h/.ssh/id = /h/.ssh/id exists !credentials", ""},
		{record.FileAction{Op: "write", Path: "src/a.go/"}, "write src/a.go/ = /w/src/a.go inside:src/a.go exists", ""},
		{record.FileAction{Op: "write", Path: "*.go"}, "write *.go = /w/*.go inside:*.go", ""}, // a file tool has no wildcards
		{record.FileAction{Op: "list", Path: "."}, "list . = /w inside:. exists", ""},
		{record.FileAction{Op: "read", Path: "~other/x"}, "read ~other/x = ", "file_unresolved"},
		{record.FileAction{Op: "move", Path: "src/a.go", Target: ".github/workflows/a.yml"},
			"move src/a.go = /w/src/a.go inside:src/a.go exists\nmove .github/workflows/a.yml = /w/.github/workflows/a.yml inside:.github/workflows/a.yml !ci", ""},
		{record.FileAction{Op: "write", Path: "a", Also: []record.FileAction{{Op: "delete", Path: "b"}}}, "write a = /w/a inside:a\ndelete b = /w/b inside:b", ""},
	} {
		have, lacks := collect(root, func(f *fileFacts) { f.action(&c.action, root+"/w") })
		if have != c.want || strings.Join(lacks, " ") != c.lacks {
			t.Errorf("%+v:\n have %s %q\n want %s %q", c.action, have, lacks, c.want, c.lacks)
		}
	}
}

func TestGlobs(t *testing.T) {
	root := grow(t, "w/a.go", "w/b.go", "w/.git/config", "w/.env", "w/link -> ../h/.ssh/id", "h/.ssh/id", "w/sub/coding_ethos.yml", "w/coding_ethos.yml")
	for glob, want := range map[string]string{
		"*.go":    "delete *.go = /w/*.go inside:*.go",
		"*.yml":   "delete *.yml = /w/*.yml inside:*.yml\ndelete /w/coding_ethos.yml = /w/coding_ethos.yml inside:coding_ethos.yml exists !ethos",
		"*/*.yml": "delete */*.yml = /w/*/*.yml inside:*/*.yml",
		".*":      "delete .* = /w/.* inside:.*\ndelete /w/.env = /w/.env inside:.env exists !credentials\ndelete /w/.git = /w/.git inside:.git exists !git",
		".[!.]*":  "delete .[!.]* = /w/.[!.]* inside:.[!.]*\ndelete /w/.env = /w/.env inside:.env exists !credentials\ndelete /w/.git = /w/.git inside:.git exists !git",
		".g?t/*":  "delete .g?t/* = /w/.g?t/* inside:.g?t/*\ndelete /w/.git/config = /w/.git/config inside:.git/config exists !git",
		"none/*":  "delete none/* = /w/none/* inside:none/*",
		"[":       "delete [ = /w/[ inside:[",
	} {
		have, lacks := collect(root, func(f *fileFacts) { f.add("delete", glob, root+"/w/"+glob, true) })
		lines := strings.Split(have, "\n")
		if len(lines) == 3 && lines[1] > lines[2] { // the order of a directory is its own
			lines[1], lines[2] = lines[2], lines[1]
		}
		if have := strings.Join(lines, "\n"); have != want || len(lacks) > 0 {
			t.Errorf("%s:\n have %s %q\n want %s", glob, have, lacks, want)
		}
	}
	have, _ := collect(root, func(f *fileFacts) { f.add("read", "l*", root+"/w/l*", true) })
	if want := "read l* = /w/l* inside:l*\nread /w/link = /h/.ssh/id link exists !credentials"; have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

// TestFollowed: a path through a symbolic link is also the path that it leads to.
func TestFollowed(t *testing.T) {
	home := t.TempDir()
	space := filepath.Join(home, "site")
	for _, dir := range []string{"build", "src", ".git/hooks"} {
		if err := os.MkdirAll(filepath.Join(space, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"self": "src/..", "out": "build", "keys": home + "/.ssh", "hooks": ".git/hooks"} {
		if err := os.Symlink(to, filepath.Join(space, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := deriver(t, Options{Home: home})
	for command, want := range map[string]string{
		"rm -rf self/*":                   "self/* *",
		"rm -rf self/":                    "self .",
		"rm -rf self":                     "self",
		"find self/ -delete":              "self .",
		"find -H self -delete":            "self .",
		"find self -name x -delete":       "self/**/x **/x",
		"cd self && rm -rf *":             "self/* *",
		"rm -rf out/* build/*":            "out/* build/*",
		"echo x > hooks/pre-commit":       "hooks/pre-commit .git/hooks/pre-commit",
		"cp keys/id_rsa x":                "x",
		"cat < keys/id_rsa > build/x":     "build/x",
		"rm -rf " + space + "/self/build": "self/build build",
	} {
		_, f := derive(t, d, record.Action{Kind: record.KindShell, Script: command, Cwd: space, Workspace: space}, record.Actor{})
		var paths []string
		for _, u := range f.Shell.Writes {
			paths = append(paths, u.Path)
		}
		if got := strings.Join(paths, " "); got != want {
			t.Errorf("%s writes %q, want %q", command, got, want)
		}
		if strings.Contains(command, "keys/") && !slices.ContainsFunc(f.Shell.Reads, func(u record.PathUse) bool { return u.Path == "~/.ssh/id_rsa" }) {
			t.Errorf("%s reads %+v", command, f.Shell.Reads)
		}
	}
}
