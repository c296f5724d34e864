//go:build agents

package e2e

import (
	"strings"
	"testing"

	"ethos/pkg/internal/scriptedmodel"
)

// TestAgentsProve: the real Codex CLI, set up by hook install, cannot end its turn with a claim: its model is told what lacks a proof, and runs it. One
// that never does is let go in the end, and a turn that changes nothing is not held up.
func TestAgentsProve(t *testing.T) {
	a := codexAgent()
	s := agentSession(t, a, asShipped)
	defer s.shell("ethos-sandbox session end --all")
	s.write("check", "#!/bin/sh\ngrep -q good content\n")
	s.write("content", "good\n")
	s.write("coding_ethos.yml", needsCheck)
	s.shell("chmod +x check && git add -A && git -c user.name=t -c user.email=t@example.invalid commit -qm one").mustSucceed(t)
	play := func(turns ...scriptedmodel.Turn) *scriptedmodel.Model {
		t.Helper()
		for from, to := range a.recipe { // setUp adds the provider once more
			s.write(to, example(t, from))
		}
		model, o := a.play(t, s, func() {}, turns...)
		if model.Asked() != len(turns)+1 {
			t.Errorf("the model was asked %d times, wanted %d: %v\n%q", model.Asked(), len(turns)+1, o, model.ToolOutputs())
		}
		return model
	}
	const held = "needs proof that these commands passed"
	if model := play(scriptedmodel.Run("cat content")); model.Heard(held) {
		t.Error("a turn that changed nothing was held up")
	}
	model := play(scriptedmodel.Run("echo more >>content"), scriptedmodel.Say("all checks pass"), scriptedmodel.Run("./check"))
	if !model.Heard(held) || !model.Heard("missing     ./check") {
		t.Errorf("the model was not told: %q", model.ToolOutputs())
	}
	if o := s.shell("ethos-trace prove").mustExit(t, 0); !strings.HasPrefix(o.stdout, "proven ") {
		t.Errorf("the store: %v", o)
	}
	if model := play(scriptedmodel.Run("echo worse >content"), scriptedmodel.Say("one"), scriptedmodel.Say("two"), scriptedmodel.Say("three")); !model.Heard(held) {
		t.Error("the model was not told")
	}
}
