//go:build agents

package e2e

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ethos/pkg/internal/scriptedmodel"
)

// terminalID is the number by which Codex CLI names a terminal to its model.
var terminalID = regexp.MustCompile(`session ID (\d+)`)

// types makes a turn that types lines into the terminal of the first call.
func types(lines string) scriptedmodel.Turn {
	return scriptedmodel.Then(func(outputs []string) scriptedmodel.Turn {
		id := 0
		if found := terminalID.FindStringSubmatch(outputs[0]); found != nil {
			id, _ = strconv.Atoi(found[1])
		}
		return scriptedmodel.Call("write_stdin", map[string]any{"session_id": id, "chars": lines, "yield_time_ms": 3000})
	})
}

// TestAgentsTypeIntoTerminal: Codex CLI's model starts a shell in a terminal
// and types into it, which fires no hook. Without ethos what is typed runs;
// without --confine no such shell starts; with it what is typed runs inside
// the boundary.
func TestAgentsTypeIntoTerminal(t *testing.T) {
	const typed = "touch typed; cat /proc/1/comm; rm -rf ~/ ; echo end of $((40+2))\n"
	a := codexAgent()
	unhooked := func(text string) string { return "" }
	for name, c := range map[string]struct {
		recipe func(string) string
		shell  string
		runs   bool   // what is typed runs
		lost   bool   // what it removes is gone outside
		told   string // of the first call
	}{
		"without ethos": {recipe: unhooked, shell: "bash --norc", runs: true, lost: true, told: "session ID"},
		"denied":        {recipe: unconfined, shell: "bash --norc", told: "code.interactive_shell"},
		"confined":      {recipe: confining, shell: "bash --norc", runs: true, told: "session ID"},
		"in a session":  {recipe: inSession, shell: "bash --norc", runs: true, told: "session ID"},
		"the remedy":    {recipe: unconfined, shell: "ethos-sandbox run -- bash --norc", runs: true, told: "session ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := agentSession(t, a, c.recipe)
			s.write("~/.profile", "PATH="+built+":$PATH\n") // Codex CLI's shell is a login shell
			defer s.shell("ethos-sandbox session end --all")
			shell := scriptedmodel.Call("exec_command", map[string]any{"cmd": c.shell, "tty": true, "yield_time_ms": 2000})
			model, o := a.play(t, s, func() {}, shell, types(typed), types("exit\n"))
			told := model.ToolOutputs()
			if len(told) != 3 || !strings.Contains(told[0], c.told) {
				t.Fatalf("the model was told %q: %v", told, o)
			}
			if s.exists("typed") != c.runs || s.exists("~/precious") == c.lost {
				t.Errorf("typed: %v, precious: %v: %q", s.exists("typed"), s.exists("~/precious"), told)
			}
			if inside := strings.Contains(told[1], "ethos-init"); inside != (c.runs && !c.lost) || strings.Contains(told[1], "end of 42") != c.runs {
				t.Errorf("the model was told %q", told[1])
			}
		})
	}
}

// TestAgentsFollowTheRemedy: what the refusal of an interactive shell offers
// instead runs.
func TestAgentsFollowTheRemedy(t *testing.T) {
	a := codexAgent()
	s := agentSession(t, a, unconfined)
	s.write("~/.profile", "PATH="+built+":$PATH\n")
	s.write("build.sh", "echo built\n")
	c := a.converse(t, s, "python3", "python3 -c 'print(1+1)'", "bash build.sh", "bash </dev/null; echo nothing", "ethos-sandbox run -- bash -c 'cat /proc/1/comm'")
	if !strings.Contains(c.told[0], "code.interactive_shell") {
		t.Errorf("python3: %q", c.told[0])
	}
	for i, want := range []string{"2\n", "built", "nothing", "ethos-init"} {
		if !strings.Contains(c.told[i+1], want) {
			t.Errorf("call %d: %q lacks %q", i+1, c.told[i+1], want)
		}
	}
}
