package setup

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ethos/pkg/capability"
)

//go:generate go test -count=1 -run "^(TestExamples|TestDocsNameTheAgents)$" -update .

var update = flag.Bool("update", false, "write the examples, and the agents in docs/")

// TestExamples: examples/ is what install writes for an agent without settings.
func TestExamples(t *testing.T) {
	for _, a := range Agents() {
		for _, f := range a.files {
			text, err := f.format.install(nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("../../../examples", f.example)
			if *update {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, text) {
				t.Errorf("%s is not what is installed (go test ./pkg/hook/setup -update): %v", path, err)
			}
		}
	}
}

// TestSettingsOfConfinedAgents: what install writes for an agent is among what a
// confined agent reads and cannot change.
func TestSettingsOfConfinedAgents(t *testing.T) {
	none := func(string) string { return "" }
	for _, a := range capability.Agents() {
		place, err := Where(a.Name, false, Dirs{Home: "/home/u", Project: "/w", Getenv: none})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range place.Paths() {
			shown := slices.ContainsFunc(a.State, func(s capability.AgentState) bool {
				at, err := capability.Expand(capability.Space{Workspace: "/w", Home: "/home/u"}, none, []string{s.Path})
				if err != nil {
					t.Fatal(err)
				}
				rel, ok := strings.CutPrefix(path, at[0].Name+"/")
				name, _, _ := strings.Cut(rel, "/")
				return ok && slices.Contains(s.Settings, name)
			})
			if !shown {
				t.Errorf("%s: %s is not among the settings", a.Name, path)
			}
		}
	}
}

// texts are settings as people have them, by the file of an agent.
var texts = map[string][]string{
	"json": {
		"{}", "{}\n", "{ }", "{\n}\n", "{\"theme\":\"dark\"}", "{\n\t\"theme\": \"dark\",\n\t\"list\": [1, 2.50, 1e9, 12345678901234567890]\n}\n",
		"// mine\n{\n  // a comment\n  \"theme\": \"dark\", // another\n  /* before */ \"model\": \"x\" // last\n  // at the end\n}\n// after\n",
		"{\n    \"theme\": \"dark\",\n}\n", "{\"hooks\": {}}", "{\n  \"hooks\": {\n  }\n}\n", "{\r\n  \"theme\": \"dark\"\r\n}\r\n", "{\"a\": \"\\u00e9 \\/ <x>\", \"b\": \"http://x // no comment\"}",
		"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]} // mine\n    ],\n    \"Stop\": []\n  }\n}\n",
		"{\n  \"hooks\": {\"BeforeTool\": [], \"PreToolUse\": [], \"preToolUse\": [{\"command\": \"mine\"},]},\n  \"permission\": {\"bash\": \"ask\"},\n  \"hooksConfig\": {\"disabled\": []}\n}\n",
		"{\"hooks\": {\"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]}, // one\n {\"hooks\": []}]}}\n",
	},
	"toml": {
		"", "model = \"x\"\n", "model = \"x\"", "# mine\nmodel = \"x\" # why\n\n[features]\nother = true # kept\n\n[mcp_servers.a]\ncommand = \"x\"\n",
		"[features]\nhooks = true\n", "[ features ] # c\n", "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n",
		"[[hooks.SessionEnd]]\n[[hooks.SessionEnd.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n\n[history]\nmax_bytes = 1_000\nwhen = 1979-05-27T07:32:00Z\nx = \"\"\"\n# no comment\n\"\"\"\n",
		"features.other = true\nfeatures.hooks = true\n",
	},
}

func formats() map[string]format {
	all := map[string]format{}
	for _, a := range Agents() {
		for _, f := range a.files {
			if _, own := f.format.(ownFormat); !own {
				all[a.Name] = f.format
			}
		}
	}
	return all
}

func textsOf(f format) []string {
	if _, ok := f.(tomlFormat); ok {
		return texts["toml"]
	}
	return texts["json"]
}

// TestInstallKeepsTheRest: what was there stays to the byte, but for a comma; once more changes nothing; another form takes the first one's place; and
// what is removed leaves the text as it was.
func TestInstallKeepsTheRest(t *testing.T) {
	for name, f := range formats() {
		for _, was := range textsOf(f) {
			once, err := f.install([]byte(was), Options{})
			if err != nil {
				t.Errorf("%s: %q: %v", name, was, err)
				continue
			}
			if again, err := f.install(once, Options{}); err != nil || !bytes.Equal(again, once) {
				t.Errorf("%s: %q: installed twice: %v\n%s\n%s", name, was, err, once, again)
			}
			if missing := lost(was, string(once)); missing != "" {
				t.Errorf("%s: %q: lost %q:\n%s", name, was, missing, once)
			}
			if s, err := f.state(once, ""); err != nil || !s.Asks {
				t.Errorf("%s: %q: not known again: %+v %v", name, was, s, err)
			}
			other, err := f.install(once, Options{Confine: "no", Programs: "/opt/ethos/bin"})
			if s, _ := f.state(other, "/opt/ethos/bin"); err != nil || s.Confines || bytes.Count(other, []byte("--confine --session")) > 0 {
				t.Errorf("%s: %q: another form: %+v %v\n%s", name, was, s, err, other)
			}
			if back, err := f.install(other, Options{}); err != nil || !equalValues(f, back, once) {
				t.Errorf("%s: %q: and back: %v\n%s", name, was, err, back)
			}
			for _, installed := range [][]byte{once, other} {
				gone, err := f.remove(installed)
				if s, _ := stateOf(f, gone); err != nil || s.Asks || bytes.Contains(gone, []byte(asksMark)) {
					t.Errorf("%s: %q: removed: %v\n%s", name, was, err, gone)
				}
				if missing := lost(was, string(gone)); gone != nil && missing != "" {
					t.Errorf("%s: %q: removing lost %q:\n%s", name, was, missing, gone)
				}
			}
		}
	}
}

// TestOlderRecipes: the form of an earlier release is known, replaced and removed.
func TestOlderRecipes(t *testing.T) {
	for _, a := range []string{"claude", "codex", "gemini", "cursor"} {
		f := formats()[a]
		fresh, err := f.install(nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		now, _ := compact(o.hook(a))
		was, _ := compact(o.ask(a) + " || sh -c 'cat >/dev/null; echo ethos gave no answer: the call is blocked >&2; exit 2'")
		older := bytes.ReplaceAll(fresh, now, was)
		if bytes.Equal(older, fresh) {
			t.Fatalf("%s: nothing is older in\n%s", a, fresh)
		}
		if s, err := f.state(older, ""); err != nil || s != (State{Asks: true, Confines: true, Records: true, Lacks: earlier}) {
			t.Errorf("%s: %+v %v", a, s, err)
		}
		if text, err := f.install(older, o); err != nil || !equalValues(f, text, fresh) {
			t.Errorf("%s: not replaced: %v\n%s", a, err, text)
		}
		if text, err := f.remove(older); err != nil || text != nil {
			t.Errorf("%s: not removed: %v\n%s", a, err, text)
		}
	}
}

func stateOf(f format, text []byte) (State, error) {
	if text == nil {
		return State{}, nil
	}
	return f.state(text, "")
}

func equalValues(f format, a, b []byte) bool {
	if _, ok := f.(jsonFormat); ok {
		x, y := plainText(a), plainText(b)
		p, _ := compact(x)
		q, _ := compact(y)
		return x != nil && bytes.Equal(p, q)
	}
	return bytes.Equal(a, b)
}

// lost is the first part of a text that another does not have, in its order. White space and commas aside, and empty lists and objects, which
// may be filled or go.
func lost(was, is string) string {
	plain := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n,{}[]", r) })
	}
	rest := plain(is)
	for _, word := range plain(was) {
		if word == `"hooks":` || word == `"Stop":` || word == `"PreToolUse":` || word == `"BeforeTool":` || word == `"hooksConfig":` {
			continue
		}
		at := -1
		for i, w := range rest {
			if w == word {
				at = i
				break
			}
		}
		if at < 0 {
			return word
		}
		rest = rest[at+1:]
	}
	return ""
}

// TestInstallRefuses: what cannot be edited for certain stays as it is.
func TestInstallRefuses(t *testing.T) {
	all := formats()
	for _, c := range []struct{ agent, text string }{
		{"claude", "{"}, {"claude", "[]"}, {"claude", "null"}, {"claude", "{} {}"}, {"claude", `{"hooks": 1}`}, {"claude", `{"hooks": {"PreToolUse": {}}}`},
		{"claude", `{"hooks": {}, "hooks": {}}`}, {"claude", `{"a": {"b": 1, "b": 2}}`},
		{"claude", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "ethos-decide --reply claude"}, {"command": "mine"}]}]}}`},
		{"opencode", `{"permission": "allow"}`}, {"opencode", `{"permission": {"*": "ask"}}`}, {"cursor", `{"hooks": []}`},
		{"codex", "[[["}, {"codex", "a = 1\na = 2"}, {"codex", "features = {other = true}\n"}, {"codex", "hooks = {PreToolUse = []}\n"}, {"codex", "[features]\nhooks = \"on\"\n"},
		{"codex", "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = \"ethos-decide --reply codex\"\n"},
	} {
		if after, err := all[c.agent].install([]byte(c.text), Options{}); err == nil {
			t.Errorf("%s: %s became\n%s", c.agent, c.text, after)
		}
	}
	off, err := all["codex"].install([]byte("[features]\nhooks = false # off\n"), Options{})
	if err != nil || !strings.HasPrefix(string(off), "[features]\nhooks = true # off\n") {
		t.Errorf("the feature that is off: %v\n%s", err, off)
	}
}

func place(t *testing.T, agent string, project bool) (Place, Dirs) {
	t.Helper()
	d := Dirs{Home: t.TempDir(), Project: t.TempDir(), Getenv: func(string) string { return "" }}
	p, err := Where(agent, project, d)
	if err != nil {
		t.Fatal(err)
	}
	return p, d
}

func do(c *Change, err error) error {
	if err != nil {
		return err
	}
	return c.Write()
}

// TestFiles: of a new home, each agent is set up and taken out again; nothing is left but directories and the backup.
func TestFiles(t *testing.T) {
	for _, a := range Agents() {
		for _, project := range []bool{false, true} {
			p, d := place(t, a.Name, project)
			if err := do(p.Install(Options{})); err != nil {
				t.Fatal(err)
			}
			if s, err := p.State(""); err != nil || s != (State{Asks: true, Confines: true, Records: true}) {
				t.Errorf("%s: %+v %v", a.Name, s, err)
			}
			c, err := p.Install(Options{})
			if err != nil || !c.Empty() || c.Diff() != "" {
				t.Errorf("%s: once more: %v %s", a.Name, err, c.Diff())
			}
			if err := do(p.Remove()); err != nil {
				t.Fatal(err)
			}
			for _, dir := range []string{d.Home, d.Project} {
				filepath.WalkDir(dir, func(path string, e os.DirEntry, _ error) error {
					if !e.IsDir() && !strings.HasSuffix(path, Backup) {
						t.Errorf("%s: left: %s", a.Name, path)
					}
					return nil
				})
			}
		}
	}
}

// TestModeAndBackup: the mode stays, and the old text is beside the new one.
func TestModeAndBackup(t *testing.T) {
	p, d := place(t, "claude", false)
	path := filepath.Join(d.Home, ".claude/settings.json")
	os.MkdirAll(filepath.Dir(path), 0o755)
	if err := errors.Join(os.WriteFile(path, []byte("{\"a\": 1}"), 0o640), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	if err := do(p.Install(Options{})); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	backup, berr := os.ReadFile(path + Backup)
	if err != nil || info.Mode().Perm() != 0o640 || berr != nil || string(backup) != "{\"a\": 1}" {
		t.Errorf("%v %v, backup %q %v", info.Mode(), err, backup, berr)
	}
}

// TestPlaces: a file that is not what it should be is refused, nothing is changed, and nothing waits. A link to a file of the same home is followed.
func TestPlaces(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(path string) error{
		"link out":     func(path string) error { return os.Symlink(outside, path) },
		"link to none": func(path string) error { return os.Symlink(outside+".not", path) },
		"fifo":         func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory":    func(path string) error { return os.Mkdir(path, 0o700) },
		"too large":    func(path string) error { return os.WriteFile(path, make([]byte, maxSettings+1), 0o600) },
		"directory out": func(path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.Symlink(filepath.Dir(outside), filepath.Dir(path)))
		},
	} {
		for _, project := range []bool{false, true} {
			p, _ := place(t, "claude", project)
			path := p.Paths()[0]
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), plant(path)); err != nil {
				t.Fatal(err)
			}
			if err := do(p.Install(Options{})); err == nil {
				t.Errorf("%s: %s was written", name, path)
			}
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "{}" {
		t.Errorf("outside: %q %v", text, err)
	}
	p, d := place(t, "claude", false)
	real := filepath.Join(d.Home, "dotfiles.json")
	if err := errors.Join(os.Mkdir(filepath.Join(d.Home, ".claude"), 0o755), os.WriteFile(real, []byte("{}"), 0o600), os.Symlink(real, p.Paths()[0])); err != nil {
		t.Fatal(err)
	}
	if err := do(p.Install(Options{})); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(real); !bytes.Contains(text, []byte(asksMark)) {
		t.Errorf("the file behind the link: %s", text)
	}
	if info, err := os.Lstat(p.Paths()[0]); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is gone: %v", err)
	}
}

// TestDirectorySwapped: a directory that becomes a link out between reading and writing takes nothing out.
func TestDirectorySwapped(t *testing.T) {
	p, _ := place(t, "claude", true)
	c, err := p.Install(Options{})
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Dir(p.Paths()[0])); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(); err == nil {
		t.Error("written")
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("outside: %v", entries)
	}
}

// TestAtOnce: of many at once none loses the other's edit: each is done, or told that the file has changed.
func TestAtOnce(t *testing.T) {
	p, _ := place(t, "claude", false)
	var done sync.WaitGroup
	for range 16 {
		done.Go(func() {
			if err := do(p.Install(Options{})); err != nil && !errors.Is(err, errChanged) {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if s, err := p.State(""); err != nil || !s.Asks {
		t.Errorf("%+v %v", s, err)
	}
	c, err := p.Install(Options{})
	if err != nil || !c.Empty() {
		t.Errorf("not whole: %v", err)
	}
}

// TestChangedMeanwhile: what somebody wrote since it was read is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	p, _ := place(t, "gemini", false)
	c, err := p.Install(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(p.Paths()[0]), 0o755), os.WriteFile(p.Paths()[0], []byte("{}"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(); !errors.Is(err, errChanged) {
		t.Errorf("%v", err)
	}
}
