package setup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoveGivesBack: what a person had is there again after install and remove, however often and in whichever form: a switch that was off is off,
// and the kept text is the person's, with no part of ethos.
func TestRemoveGivesBack(t *testing.T) {
	for _, c := range []struct{ agent, file, text string }{
		{"gemini", ".gemini/settings.json", `{"hooksConfig":{"enabled":false}}`},
		{"gemini", ".gemini/settings.json", "{\n  // mine\n  \"theme\": \"x\",\n  \"hooksConfig\": {\"enabled\": false} // no hooks\n}\n"},
		{"gemini", ".gemini/settings.json", `{"hooksConfig":{"enabled":true}}`},
		{"codex", ".codex/config.toml", "model = \"x\"\n\n[features]\nhooks = false # not now\n"},
		{"codex", ".codex/config.toml", "[features]\nhooks = true\n"},
		{"claude", ".claude/settings.json", "{}"},
		{"claude", ".claude/settings.json", "{\"model\": \"x\"}\n"},
		{"opencode", ".config/opencode/opencode.json", "{\"theme\": \"x\"}\n"},
	} {
		p, d := place(t, c.agent, false)
		path := filepath.Join(d.Home, c.file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(c.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		rounds := 2
		if c.agent == "opencode" {
			rounds = 1 // the schema that is added stays
		}
		for range rounds {
			if err := errors.Join(do(p.Install(Options{})), do(p.Install(Options{Confine: "no"})), do(p.Install(Options{Confine: "allow"}))); err != nil {
				t.Fatal(err)
			}
			if s, err := p.State(""); err != nil || !s.Asks {
				t.Errorf("%s: %q: %+v %v", c.agent, c.text, s, err)
			}
			if kept, err := os.ReadFile(path + Backup); err != nil || string(kept) != c.text {
				t.Errorf("%s: %q: kept %q %v", c.agent, c.text, kept, err)
			}
			if err := do(p.Remove()); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			kept, kerr := os.ReadFile(path + Backup)
			if err != nil || string(after) != c.text && rounds > 1 || kerr != nil || string(kept) != c.text {
				t.Errorf("%s: %q became %q %v, kept %q %v", c.agent, c.text, after, err, kept, kerr)
			}
		}
		if more, _ := filepath.Glob(path + Backup + ".*"); len(more) > 0 {
			t.Errorf("%s: %q: %v", c.agent, c.text, more)
		}
	}
}

// TestKeptTextsStay: a text of the person that was kept gets a number when there is a later one, and a switch that the person has turned on since stays
// on.
func TestKeptTextsStay(t *testing.T) {
	p, d := place(t, "gemini", false)
	path := filepath.Join(d.Home, ".gemini/settings.json")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cycle := func() string {
		t.Helper()
		if err := errors.Join(do(p.Install(Options{})), do(p.Remove())); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		return string(text)
	}
	const off, on = `{"hooksConfig":{"enabled":false}}`, `{"a":1,"hooksConfig":{"enabled":true}}`
	for _, text := range []string{off, on} {
		if write(text); cycle() != text {
			t.Errorf("%s is gone", text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if text := cycle(); text != "" {
		t.Errorf("of no file: %s", text)
	}
	for name, want := range map[string]string{Backup + ".1": off, Backup + ".2": on} {
		if text, err := os.ReadFile(path + name); err != nil || string(text) != want {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
}

// TestOff: the agent's own switch counts as the agent reads it, in whichever file.
func TestOff(t *testing.T) {
	const user, project, local = "~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"
	for _, c := range []struct {
		agent string
		files map[string]string
		off   string
	}{
		{"claude", map[string]string{user: `{"model": "x"}`}, ""},
		{"claude", map[string]string{user: `{"disableAllHooks": true}`}, "settings.json sets disableAllHooks to true"},
		{"claude", map[string]string{user: `{"disableAllHooks": false}`}, ""},
		{"claude", map[string]string{user: `{"disableAllHooks": "true"}`}, ""},
		{"claude", map[string]string{project: `{/* why */ "disableAllHooks": true}`}, "settings.json"},
		{"claude", map[string]string{local: `{"disableAllHooks": true}`}, "settings.local.json"},
		{"claude", map[string]string{user: `{"disableAllHooks": true}`, project: `{"disableAllHooks": false}`}, ""},
		{"claude", map[string]string{project: `{"disableAllHooks": false}`, local: `{"disableAllHooks": true}`}, "settings.local.json"},
		{"claude", map[string]string{user: `{"disableAllHooks": true}`, project: `{`}, "settings.json"},
		{"gemini", map[string]string{"~/.gemini/settings.json": `{"hooksConfig": {"enabled": false}}`}, "sets hooksConfig.enabled to false"},
		{"gemini", map[string]string{"~/.gemini/settings.json": `{"hooksConfig": {"enabled": true}}`, ".gemini/settings.json": `{"hooksConfig": {"enabled": false}}`}, "sets hooksConfig.enabled to false"},
		{"codex", map[string]string{"~/.codex/config.toml": "model = 1\n"}, ""},
	} {
		_, d := place(t, c.agent, false)
		for name, text := range c.files {
			path := filepath.Join(d.Project, name)
			if rest, home := strings.CutPrefix(name, "~/"); home {
				path = filepath.Join(d.Home, rest)
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if off, _ := Off(c.agent, d); (off == "") != (c.off == "") || !strings.Contains(off, c.off) {
			t.Errorf("%v: %q", c.files, off)
		}
	}
}
