//go:build agents

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/scriptedmodel"
)

// whole is what differs between the agents when each is confined as a whole.
type whole struct {
	settings string // the person's file that has the hook
	added    string // another file of settings, which the person does not have
	logs     string // prints a line "kept …" for each conversation that it keeps
	start    string // the agent's command line, after --
	env      string // flags that pass what only the test sets
}

var wholes = map[string]whole{
	"codex": {
		settings: "~/.codex/config.toml", added: "~/.codex/hooks.json", logs: `printf 'kept %s\n' ~/.codex/sessions/*/*/*/*.jsonl`,
		start: `"$AGENT" exec --dangerously-bypass-hook-trust --skip-git-repo-check --json "go on" </dev/null`,
	},
	"gemini": {
		settings: "~/.gemini/settings.json", added: "~/.gemini/GEMINI.md", logs: `printf 'kept %s\n' ~/.gemini/tmp/*/chats/*`,
		start: `"$AGENT" -m gemini-2.5-flash --approval-mode yolo -p "go on" </dev/null`,
	},
	"opencode": {
		settings: "~/.config/opencode/plugin/ethos.js", added: "~/.config/opencode/plugin/other.js", logs: `grep -h "message=\"creating instance\"" ~/.local/share/opencode/log/* | sed "s/^/kept /"`,
		start: `"$AGENT" run --print-logs "go on" </dev/null`,
		env: "--env OPENCODE_DISABLE_AUTOUPDATE --env OPENCODE_DISABLE_MODELS_FETCH --env OPENCODE_DISABLE_LSP_DOWNLOAD" +
			" --env OPENCODE_DISABLE_SHARE --env OPENCODE_DISABLE_DEFAULT_PLUGINS ",
	},
}

// installed is an agent whose hook was put into the person's settings by hook
// install, in a home that has nothing of ethos yet.
func installed(t *testing.T, a agent, flags string) *session {
	t.Helper()
	bare := a
	bare.recipe = nil
	s := agentSession(t, bare, asShipped)
	switch a.name { // what setUp adds to
	case "codex":
		s.write("~/.codex/config.toml", "")
	case "gemini":
		s.write("~/.gemini/settings.json", "{}\n")
	case "opencode":
		s.write("opencode.json", "{}\n")
	}
	s.shell("mkdir -p ~/.local/state && chmod 700 ~/.local ~/.local/state").mustSucceed(t) // ethos makes its own in it
	s.shell("ethos-decide hook install " + a.name + " --yes" + flags).mustSucceed(t)
	return s
}

// wholly runs an agent inside of one boundary, with its model by name, on a model
// that plays the turns.
func (a agent) wholly(t *testing.T, s *session, flags string, before func(), turns ...scriptedmodel.Turn) ([]string, outcome) {
	t.Helper()
	w := wholes[a.name]
	confined := a
	confined.setUp = func(s *session, model *scriptedmodel.Model) string {
		a.setUp(s, model)
		port := model.URL()[strings.LastIndexByte(model.URL(), ':'):]
		for _, name := range []string{"~/.codex/config.toml", "opencode.json"} {
			if s.exists(name) {
				s.write(name, strings.ReplaceAll(s.read(name), "127.0.0.1"+port, "localhost"+port))
			}
		}
		for i := range s.env {
			s.env[i] = strings.ReplaceAll(s.env[i], "127.0.0.1"+port, "localhost"+port)
		}
		programs := filepath.Dir(filepath.Dir(client(t, "node")))
		return "ethos-sandbox run --profile agent --allow-domain localhost" + port + " --ro " + programs + " " + w.env + flags + " -- " + w.start
	}
	model, o := confined.play(t, s, before, turns...)
	told := model.ToolOutputs()
	if len(told) != len(turns) {
		t.Fatalf("%s: the model was told %q: %v", a.name, told, o)
	}
	return told, o
}

// TestAgentsAsAWhole: the agent itself is inside of the boundary, with its shell,
// its tools that run in its own process and its sub-agents. Its hook answers in
// there. It keeps its conversations, and changes no settings of the person.
func TestAgentsAsAWhole(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		s, w := installed(t, a, ""), wholes[a.name]
		hooked := s.read(w.settings)
		outside := filepath.Join(t.TempDir(), "marker")
		attack := "for f in " + w.settings + " " + w.added + "; do echo changed > $f; rm -f $f; mv $f $f.old; ls -d $f; done; echo end of $((40+2))"
		turns := []scriptedmodel.Turn{
			scriptedmodel.Run("cat /proc/1/comm; bash reach.sh"),
			scriptedmodel.Run("bash attack.sh"),
			scriptedmodel.Run("rm -rf ~/"),
			scriptedmodel.Run(w.logs),
		}
		// The scripts are what analysis does not see: the boundary alone holds them.
		s.write("reach.sh", "touch inside "+outside)
		s.write("attack.sh", attack)
		for run := range 2 {
			if a.name == "codex" { // setUp puts the provider in front of it
				s.write(w.settings, hooked)
			}
			var before map[string]string
			told, _ := a.wholly(t, s, "", func() { before = s.tree(s.home) }, turns...)
			if _, err := os.Stat(outside); err == nil || !strings.Contains(told[0], "ethos-init") || !s.exists("inside") {
				t.Errorf("the shell is not inside: %q", told[0])
			}
			if !strings.Contains(told[1], "end of 42") || !strings.Contains(told[1], "Read-only file system") || strings.Contains(told[1], ".old\n") {
				t.Errorf("the attack on its settings: %q", told[1])
			}
			if !strings.Contains(told[2], "files.delete_wide") {
				t.Errorf("the hook did not refuse: %q", told[2])
			}
			if logs := strings.Count(told[3], "kept "); logs < run+1 {
				t.Errorf("conversation %d keeps %d logs: %q", run+1, logs, told[3])
			}
			if after := s.tree(s.home); !maps.Equal(after, before) {
				t.Errorf("the home changed:\n%v\n%v", before, after)
			}
		}
	})
}

// TestAgentsToolsInside: a tool that runs in the process of the agent is inside,
// too, where no hook is installed. OpenCode's writes wherever its model says.
func TestAgentsToolsInside(t *testing.T) {
	a := openCodeAgent()
	write := func(path string) scriptedmodel.Turn { return a.writes(path, "written\n") }
	for name, confined := range map[string]bool{"confined": true, "the twin": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bare := a
			bare.recipe = nil
			s := agentSession(t, bare, asShipped)
			s.write("opencode.json", "{}\n")
			turns := []scriptedmodel.Turn{write(s.path("~/outside")), write(s.path("inside"))}
			if confined {
				a.wholly(t, s, "", func() {}, turns...)
			} else {
				a.play(t, s, func() {}, turns...)
			}
			if !s.exists("inside") || s.exists("~/outside") == confined {
				t.Errorf("inside: %v, outside: %v", s.exists("inside"), s.exists("~/outside"))
			}
		})
	}
}

// tree is the hash of each file below a directory, without what ethos keeps.
func (s *session) tree(dir string) map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(path, filepath.Join(s.home, ".local/state/ethos")) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			what += hex.EncodeToString(sum[:8])
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err := os.Readlink(path); err == nil {
				what += to
			}
		}
		files[path] = what
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}
