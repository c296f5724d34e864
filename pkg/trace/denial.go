package trace

import "ethos/pkg/record"

// RuleDenial is the rule of what the sandbox denied a command that ran.
const RuleDenial = "runtime.sandbox_denial"

// Denials are what the sandbox denied the command while it ran, and what it
// put aside when the run had ended. They make a run that succeeded [Found],
// and count against every baseline: what lies in quarantine waits for a
// person.
func (e *Entry) Denials() []record.Denial {
	if e.Result == nil {
		return nil
	}
	return e.Result.Capture.Sandbox.Denials
}
