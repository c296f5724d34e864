package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ownDir = "/opt/ethos/bin"

// allOptions are those with which the command installs a hook.
func allOptions() (list []Options) {
	for _, programs := range []string{"", ownDir, "/opt/with a space"} {
		for _, confine := range []string{"", "ask", "allow", "no"} {
			for _, failed := range []bool{false, true} {
				list = append(list, Options{Confine: confine, Programs: programs, Failed: failed})
			}
		}
	}
	return list
}

// TestStateOfWhatIsInstalled: every text that install writes, in this release or an earlier one, guards, and is told as what it is.
func TestStateOfWhatIsInstalled(t *testing.T) {
	for _, a := range Agents() {
		for _, o := range allOptions() {
			for _, former := range []bool{false, true} {
				for _, session := range []string{"", noSession, "mine.1"} {
					o.former, o.session, o.noStore = former, session, session == noSession
					dir := ownDir
					if o.Unquotable() {
						dir = o.Programs
					}
					f := a.files[0].format
					text, err := f.install(nil, o)
					if err != nil {
						t.Fatal(err)
					}
					s, err := f.state(text, dir)
					if err != nil || !s.Asks || s.Changed != "" || s.Confines != (o.Confine != "no") || s.Records == o.noStore || s.Lacks != "" && !former {
						t.Errorf("%s: %+v: %+v %v", a.Name, o, s, err)
					}
				}
			}
		}
	}
}

// write replaces a file of a place.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// repaired checks that a new installation makes settings guard again, or says what a person does first.
func repaired(t *testing.T, name, what string, p Place, d Dirs) {
	t.Helper()
	err := do(p.Install(Options{}))
	if err != nil {
		if !strings.Contains(err.Error(), "first") && !strings.Contains(err.Error(), "take ") {
			t.Errorf("%s: %s: install: %v", name, what, err)
		}
		return
	}
	s, err := p.State(ownDir)
	off, faults := Off(name, d)
	if err != nil || s != (State{Asks: true, Confines: true, Records: true}) || off != "" || faults != nil {
		t.Errorf("%s: %s: not repaired: %+v %v, %q %v", name, what, s, err, off, faults)
	}
}

// TestChangedByHand: each of these hooks looks like ethos's and does not guard, or need not. None is told as one that does, and a new installation
// repairs it.
func TestChangedByHand(t *testing.T) {
	replace := func(pairs ...string) func(string) string {
		return func(text string) string { return strings.NewReplacer(pairs...).Replace(text) }
	}
	for _, c := range []struct {
		agent, what string
		change      func(string) string
		said        string
	}{
		{"claude", "commented out", replace(`"sh -c 'timeout -s KILL 30 sh -c`, `"true # sh -c 'timeout -s KILL 30 sh -c`), "hooks[0].command is not what ethos writes"},
		{"claude", "always a yes", replace(`exit 2; }'"`, `exit 2; }' || true"`), "hooks[0].command is not"},
		{"claude", "another event", replace("PreToolUse", "Notification"), "hooks.PreToolUse has no hook of ethos"},
		{"claude", "an event after the call", replace("PreToolUse", "PostToolUseFailure"), "hooks.PreToolUse has no hook of ethos"},
		{"claude", "some tools", replace(`"matcher": "*"`, `"matcher": "Write"`), `matcher is "Write" instead of "*"`},
		{"claude", "some commands", replace(`"matcher": "*"`, `"matcher": "*", "if": "Bash(git *)"`), "if is not of ethos"},
		{"claude", "some commands, below", replace(`"type": "command"`, `"type": "command", "if": "Bash(git *)"`), "hooks[0].if is not of ethos"},
		{"claude", "a prompt", replace(`"type": "command"`, `"type": "prompt"`), `hooks[0].type is "prompt" instead of "command"`},
		{"claude", "in the background", replace(`"type": "command"`, `"type": "command", "async": true`), "hooks[0].async is not of ethos"},
		{"claude", "no time", replace(`"timeout": 60`, `"timeout": 1`), "hooks[0].timeout is 1 instead of 60"},
		{"claude", "another agent", replace("--reply claude --confine", "--reply copilot --confine"), "hooks[0].command is not"},
		{"claude", "another policy", replace("--confine --session", "--policy /tmp/p.yml --confine --session"), "hooks[0].command is not"},
		{"claude", "other programs", replace("ethos-facts --from", "/w/bin/ethos-facts --from", "ethos-decide --reply", "/w/bin/ethos-decide --reply", "ethos-trace prove", "/w/bin/ethos-trace prove", "ethos-sandbox session", "/w/bin/ethos-sandbox session"), "it runs the programs of /w/bin, which are not those of this ethos-decide"},
		{"claude", "other programs in part", replace("ethos-facts --from", "/w/bin/ethos-facts --from"), "hooks[0].command is not"},
		{"gemini", "some tools", replace(`".*"`, `"read_file"`), `matcher is "read_file" instead of ".*"`},
		{"gemini", "another name", replace(`"name": "ethos",`, `"name": "mine",`), `hooks[0].name is "mine" instead of "ethos"`},
		{"codex", "some tools", replace(`matcher = "*"`, `matcher = "Bash"`), `matcher is "Bash" instead of "*"`},
		{"codex", "some tools, and the marks are gone", replace(`matcher = "*"`, `matcher = "Bash"`, blockBegins, "", blockEnds, ""), `matcher is "Bash" instead of "*"`},
		{"codex", "commented out", replace("sh -c 'timeout -s KILL 30 sh -c \\\"", "true # sh -c 'timeout -s KILL 30 sh -c \\\""), "hooks[0].command is not"},
		{"cursor", "goes on without", replace("true", "false"), "failClosed is false instead of true"},
		{"cursor", "one event less", replace("preToolUse", "postToolUse"), "hooks.preToolUse has no hook of ethos"},
		{"cursor", "another version", replace(`"version": 1`, `"version": "1"`), `version is "1" instead of 1`},
		{"copilot", "turned off", replace(`"version": 1`, `"version": 1, "disableAllHooks": true`), "disableAllHooks is not of ethos"},
		{"copilot", "some tools", replace(`"type": "command"`, `"type": "command", "matcher": "view"`), "hooks.preToolUse[0].matcher is not of ethos"},
		{"opencode", "a yes", replace(`"allow" && !error`, `"allow"`), "it is not what ethos writes"},
	} {
		for _, project := range []bool{false, true} {
			p, d := place(t, c.agent, project)
			if err := do(p.Install(Options{})); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(p.Paths()[0])
			if err != nil {
				t.Fatal(err)
			}
			changed := c.change(string(text))
			if changed == string(text) {
				t.Fatalf("%s: %s: nothing changed in\n%s", c.agent, c.what, text)
			}
			write(t, p.Paths()[0], changed)
			if s, err := p.State(ownDir); err != nil || s.Asks || !strings.Contains(s.Changed, c.said) {
				t.Errorf("%s: %s: %+v %v", c.agent, c.what, s, err)
			}
			repaired(t, c.agent, c.what, p, d)
		}
	}
}

// TestEveryValueCounts: of the hooks before a call each value is changed, left out, and given a companion. None of these is told as guarding.
func TestEveryValueCounts(t *testing.T) {
	for _, a := range Agents() {
		if _, json := a.files[0].format.(tomlFormat); json || a.Name == "opencode" {
			continue // their text is compared as that of the others, and has no JSON to change
		}
		p, _ := place(t, a.Name, false)
		if err := do(p.Install(Options{})); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(p.Paths()[0])
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; ; n++ {
			root := plainText(text).(map[string]any)
			left := n
			gates := any(root)
			if f, ok := a.files[0].format.(jsonFormat); ok {
				only := map[string]any{}
				for _, h := range f.hooks(Options{}) {
					if h.gate {
						only[h.path[1]] = get(root, h.path)
					}
				}
				gates = only
			}
			if !alter(gates, &left) {
				break
			}
			changed, err := json.Marshal(root)
			if err != nil {
				t.Fatal(err)
			}
			write(t, p.Paths()[0], string(changed))
			if s, err := p.State(ownDir); err != nil || s.Asks && s.Changed == "" {
				t.Errorf("%s: %+v %v:\n%s", a.Name, s, err, changed)
			}
		}
		if n < 2 {
			t.Errorf("%s: only %d changes", a.Name, n)
		}
	}
}

// alter makes the change of a number below a value: it changes a leaf, removes a member, or adds one.
func alter(v any, n *int) bool {
	next := func() bool { *n--; return *n == -1 }
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v, nil) {
			switch old := v[name].(type) {
			case map[string]any, []any:
				if alter(old, n) {
					return true
				}
			case string:
				if next() {
					v[name] = old + "x"
					return true
				}
			case bool:
				if next() {
					v[name] = !old
					return true
				}
			case json.Number:
				if next() {
					v[name] = 2
					return true
				}
			}
			if _, list := v[name].([]any); !list && next() {
				delete(v, name)
				return true
			}
		}
		if _, leaf := v["timeout"]; (leaf || v["matcher"] != nil) && next() {
			v["when"] = "never"
			return true
		}
	case []any:
		for i := range v {
			if alter(v[i], n) {
				return true
			}
		}
	}
	return false
}

// TestMissingParts: without a hook that guards nothing the others still guard, and what is missing is named. Without a file they do not.
func TestMissingParts(t *testing.T) {
	p, d := place(t, "claude", false)
	if err := do(p.Install(Options{})); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(p.Paths()[0])
	v := plainText(text).(map[string]any)
	delete(v["hooks"].(map[string]any), "Stop")
	less, _ := json.Marshal(v)
	write(t, p.Paths()[0], string(less))
	if s, err := p.State(ownDir); err != nil || !s.Asks || !s.Confines || s.Changed != "" || !strings.Contains(s.Lacks, "hooks.Stop has no hook of ethos") {
		t.Errorf("without Stop: %+v %v", s, err)
	}
	repaired(t, "claude", "without Stop", p, d)
	if text, err := (ownFormat{openCodePlugin}).install(nil, Options{former: true}); err != nil || !bytes.Contains(text, []byte(asksMark)) || bytes.Contains(text, []byte("ETHOS")) {
		t.Errorf("the former plug-in: %v\n%s", err, text)
	}
	for i := range 2 {
		p, d := place(t, "opencode", false)
		if err := errors.Join(do(p.Install(Options{})), os.Remove(p.Paths()[i])); err != nil {
			t.Fatal(err)
		}
		if s, err := p.State(ownDir); err != nil || s.Asks || !strings.Contains(s.Changed, p.Paths()[i]+" does not exist") {
			t.Errorf("without %s: %+v %v", p.Paths()[i], s, err)
		}
		repaired(t, "opencode", "without a file", p, d)
	}
}

// TestTurnedOff: what turns the hook off is said, with its file, in whichever of the agent's files it is; and the same elsewhere or of another value
// is not. A file of the installation that does it is repaired, or refused.
func TestTurnedOff(t *testing.T) {
	bin, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{bin, other} {
		for _, name := range hookPrograms {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	type files map[string]string
	for _, c := range []struct {
		agent string
		files files
		off   string
	}{
		{"gemini", files{"~/.gemini/settings.json": `{"hooksConfig":{"disabled":["ethos"]}}`}, "names ethos in hooksConfig.disabled"},
		{"gemini", files{".gemini/settings.json": `{"hooksConfig":{"disabled":["mine","ethos"]}}`}, "names ethos in hooksConfig.disabled"},
		{"gemini", files{".gemini/settings.json": `{"hooksConfig":{"disabled":["mine"]}}`}, ""},
		{"gemini", files{"~/.gemini/settings.json": `{"hooksConfig":{"disabled":["ethos"]}}`, ".gemini/settings.json": `{"hooksConfig":{"disabled":[]}}`}, "names ethos"},
		{"codex", files{"~/.codex/config.toml": "[features]\nhooks = false\n"}, "sets features.hooks to false"},
		{"codex", files{"~/.codex/config.toml": "[features]\ncodex_hooks = false\n"}, "sets features.codex_hooks to false"},
		{"codex", files{"~/.codex/config.toml": "[features]\ncodex_hooks = false\nhooks = true\n"}, ""},
		{"codex", files{"~/.codex/config.toml": "profile = \"x\"\n[profiles.x.features]\nhooks = false\n"}, "sets profiles.x.features.hooks to false"},
		{"codex", files{"~/.codex/config.toml": "profile = \"y\"\n[profiles.x.features]\nhooks = false\n"}, ""},
		{"codex", files{"~/.codex/config.toml": "[profiles.x.features]\nhooks = false\n"}, ""},
		{"codex", files{".codex/config.toml": "[features]\nhooks = false\n"}, "sets features.hooks to false"},
		{"codex", files{"~/.codex/config.toml": "[features]\nhooks = false\n", ".codex/config.toml": "[features]\nhooks = true\n"}, ""},
		{"copilot", files{"~/.copilot/settings.json": `{"disableAllHooks": true}`}, "settings.json sets disableAllHooks to true"},
		{"copilot", files{".github/copilot/settings.json": `{"disableAllHooks": true}`}, "settings.json sets disableAllHooks to true"},
		{"copilot", files{".github/copilot/settings.local.json": `{"disableAllHooks": true}`}, "settings.local.json sets"},
		{"copilot", files{".claude/settings.json": `{"disableAllHooks": true}`}, "settings.json sets disableAllHooks to true"},
		{"copilot", files{".claude/settings.json": `{"disableAllHooks": true}`, ".github/copilot/settings.json": `{"disableAllHooks": false}`}, ""},
		{"claude", files{"~/.claude/settings.json": `{"env": {"PATH": "` + other + `"}}`}, "sets the PATH of hooks to one that leads to another sh"},
		{"claude", files{"~/.claude/settings.json": `{"env": {"PATH": "` + bin + ":" + other + `"}}`}, ""},
		{"claude", files{".claude/settings.json": `{"env": {"PATH": ".:` + bin + `"}}`}, ""},
		{"claude", files{".claude/settings.json": `{"env": {"PATH": 1}}`}, "sets the PATH of hooks"},
		{"claude", files{".claude/settings.json": `{"env": {"LD_PRELOAD": "/w/x.so"}}`}, "sets LD_PRELOAD for hooks"},
		{"claude", files{".claude/settings.json": `{"env": {"BASH_FUNC_ethos-facts%%": "() { :; }"}}`}, "sets BASH_FUNC_"},
		{"claude", files{".claude/settings.local.json": `{"env": {"XDG_STATE_HOME": "/w"}}`}, "sets XDG_STATE_HOME"},
		{"claude", files{".claude/settings.json": `{"env": {"ETHOS_MODE": "plan"}}`}, "sets ETHOS_MODE"},
		{"claude", files{"~/.claude/settings.json": `{"env": {"ETHOS_STORE": "/srv/store", "EDITOR": "vi"}}`}, ""},
		{"claude", files{".claude/settings.json": `{"env": {"EDITOR": "vi"}}`}, ""},
	} {
		for _, project := range []bool{false, true} {
			p, d := place(t, c.agent, project)
			d.Getenv = func(name string) string {
				return map[string]string{"PATH": bin}[name]
			}
			for name, text := range c.files {
				at := filepath.Join(d.Project, name)
				if rest, home := strings.CutPrefix(name, "~/"); home {
					at = filepath.Join(d.Home, rest)
				}
				write(t, at, text)
			}
			off, faults := Off(c.agent, d)
			if (off == "") != (c.off == "") || !strings.Contains(off, c.off) || faults != nil {
				t.Errorf("%s: %v: %q %v", c.agent, c.files, off, faults)
			}
			if _, err := os.Stat(p.Paths()[0]); err == nil && len(c.files) == 1 && !strings.Contains(fmt.Sprint(c.files), "env") {
				repaired(t, c.agent, fmt.Sprint(c.files), p, d)
			}
		}
	}
}

// TestHookTurnedOffInCodex: Codex CLI's list of hooks has ethos's, by its place in its file, turned off.
func TestHookTurnedOffInCodex(t *testing.T) {
	p, d := place(t, "codex", false)
	const mine = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n"
	write(t, p.Paths()[0], mine)
	if err := do(p.Install(Options{})); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(p.Paths()[0])
	for key, want := range map[string]bool{p.Paths()[0] + ":pre_tool_use:1:0": true, "file:" + p.Paths()[0] + ":pre_tool_use:1:0": true, p.Paths()[0] + ":pre_tool_use:0:0": false, p.Paths()[0] + ":stop:1:0": false} {
		write(t, p.Paths()[0], string(text)+"[hooks.state.\""+key+"\"]\nenabled = false\n")
		if off, faults := Off("codex", d); (off != "") != want || faults != nil {
			t.Errorf("%s: %q %v", key, off, faults)
		}
		if s, err := p.State(ownDir); err != nil || !s.Asks {
			t.Errorf("%s: %+v %v", key, s, err)
		}
	}
}

// TestAgentElsewhere: the switches of an agent whose directory a variable names are read there.
func TestAgentElsewhere(t *testing.T) {
	_, d := place(t, "copilot", false)
	elsewhere := t.TempDir()
	d.Getenv = func(name string) string { return map[string]string{"COPILOT_HOME": elsewhere}[name] }
	for text, want := range map[string]bool{`{"disableAllHooks": true}`: true, `{}`: false} {
		write(t, filepath.Join(elsewhere, "settings.json"), text)
		write(t, filepath.Join(elsewhere, "hooks/other.json"), "{}")
		if off, faults := Off("copilot", d); (off != "") != want || faults != nil {
			t.Errorf("%s: %q %v", text, off, faults)
		}
	}
}

// TestUnreadableSwitches: settings of the agent that cannot be read may turn hooks off.
func TestUnreadableSwitches(t *testing.T) {
	_, d := place(t, "claude", false)
	write(t, filepath.Join(d.Project, ".claude/settings.local.json"), `{"disableAllHooks": false, "disableAllHooks": true}`)
	if off, faults := Off("claude", d); off != "" || len(faults) != 1 || !strings.Contains(faults[0], "settings.local.json: ") {
		t.Errorf("%q %v", off, faults)
	}
}
