package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ethos/pkg/internal/probetest"
	"ethos/pkg/internal/scriptedmodel"
	"ethos/pkg/record"
)

// codexProvider points Codex CLI at a scripted model; nobody is asked and its own sandbox is off, so that only the hook
// stands between the model and the machine.
const codexProvider = `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
requires_openai_auth = false
request_max_retries = 0

`

// codex runs the real Codex CLI with the example's hook on a model that asks for one command, and returns what Codex
// told the model about it.
func codex(t *testing.T, s *session, command string) string {
	t.Helper()
	probetest.Need(t, "command:node")
	program := client(t, "codex")
	model := scriptedmodel.Start(t, scriptedmodel.Run(command), scriptedmodel.Say("done"))
	home := t.TempDir()
	for name, text := range map[string]string{
		"config.toml": fmt.Sprintf(codexProvider, model.URL()) + example(t, "codex/config.toml"),
		"hooks.json":  example(t, "codex/hooks.json"),
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.env = append(s.env, "CODEX_HOME="+home, "CODEX="+program)
	o := s.shell(`"$CODEX" exec --dangerously-bypass-hook-trust --skip-git-repo-check --json "go on"`)
	if model.Asked() != 2 {
		t.Fatalf("the model was asked %d times: %v", model.Asked(), o)
	}
	outputs := model.ToolOutputs()
	if len(outputs) != 1 {
		t.Fatalf("%d tool outputs: %q: %v", len(outputs), outputs, o)
	}
	return outputs[0]
}

// TestCodexIsStopped: the real agent does not run what policy denies, and its model is told why and what would do.
func TestCodexIsStopped(t *testing.T) {
	s := newSession(t)
	home := t.TempDir()
	s.env = append(s.env, "HOME="+home)
	precious := filepath.Join(home, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	told := codex(t, s, "rm -rf ~/; touch ran")
	if _, err := os.Stat(precious); err != nil {
		t.Error("the home folder was deleted:", err)
	}
	s.shell("test ! -e ran").mustSucceed(t)
	if !strings.Contains(told, "blocked") {
		t.Errorf("the model was told %q", told)
	}
	denied := member[record.Decision](t, theAction(t, s.shell(`ethos-facts -c 'rm -rf ~/; touch ran' | ethos-decide`)), "decision")
	if len(denied.Matches) == 0 || !strings.Contains(told, denied.Matches[0].ID) || !strings.Contains(told, denied.Matches[0].Remedy) {
		t.Errorf("the model was told %q, which lacks policy or remedy of %+v", told, denied.Matches)
	}
}

// TestCodexGoesOn is the twin: what policy allows runs, and the agent does not notice ethos.
func TestCodexGoesOn(t *testing.T) {
	s := newSession(t)
	if told := codex(t, s, "echo all is well"); !strings.Contains(told, "all is well") {
		t.Errorf("the model was told %q", told)
	}
}

// TestCodexWithoutEthos: with the programs gone, the example's hook blocks.
func TestCodexWithoutEthos(t *testing.T) {
	s := newSession(t)
	s.env = append(s.env, "PATH="+os.Getenv("PATH"))
	if told := codex(t, s, "touch ran"); !strings.Contains(told, "ethos gave no answer") {
		t.Errorf("the model was told %q", told)
	}
	s.shell("test ! -e ran").mustSucceed(t)
}
