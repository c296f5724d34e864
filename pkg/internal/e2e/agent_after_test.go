//go:build agents

package e2e

import "testing"

// TestAgentsTellTheModel: the recipe's hook for the event after a call has the
// real agent tell its model what the boundary refused a call that failed.
func TestAgentsTellTheModel(t *testing.T) {
	each(t, func(t *testing.T, a agent) {
		s := agentSession(t, a, inSession)
		defer s.shell("ethos-sandbox session end --all")
		const front = "The call ran inside of the boundary of ethos, which refused it the following."
		for command, want := range map[string]bool{"cat ~/precious 2>/dev/null": true, "cat ~/precious; true": false} {
			model, o := a.start(t, s, command)
			if got := model.Heard(front); got != want {
				t.Errorf("%s: the model was told: %v, wanted %v: %v\n%q", command, got, want, o, model.ToolOutputs())
			}
			for name := range a.recipe { // setUp adds the provider once more
				s.write(a.recipe[name], inSession(example(t, name)))
			}
		}
	})
}
