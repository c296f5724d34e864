package main

import (
	"bytes"
	"strings"
	"testing"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// TestLimitNotInForce holds that a limit of processor time that was asked for by
// name and that nothing holds is told, and no other.
func TestLimitNotInForce(t *testing.T) {
	for state, want := range map[string]bool{"enforced": false, "degraded": true, "absent": true} {
		for _, asked := range []bool{true, false} {
			var said bytes.Buffer
			plan := &sandbox.Plan{Asked: asked, Limits: sandbox.Limits{CPUPercent: 50}}
			out := sandbox.Outcome{Evidence: record.Sandbox{Controls: []record.Control{{Name: "cgroup", State: state, Reason: "none can be had"}}}}
			warnDenied(&cli.System{Name: "ethos-sandbox", Stderr: &said}, plan, out)
			if got := strings.Contains(said.String(), "50% of a processor is not in force: none can be had"); got != (want && asked) {
				t.Errorf("%s, asked %t: %q", state, asked, said.String())
			}
		}
	}
}
