//go:build !linux

package exec

import (
	"context"

	"ethos/pkg/sandbox/plan"
)

// ReadAhead does nothing on this system.
func ReadAhead() {}

// Release does nothing on this system.
func Release() {}

// Run carries out a plan of the backend seatbelt on macOS, and refuses every other plan: nothing
// else makes a boundary on this system, and nothing runs without one.
func Run(ctx context.Context, p *plan.Plan, io IO) (Outcome, error) {
	if p.Backend == plan.Seatbelt {
		return thisMac.run(ctx, p, io)
	}
	hint := "run it on Linux 5.13 or newer, for instance in a virtual machine"
	if thisMac.system == "darwin" {
		hint += "; or use --backend seatbelt, which docs/backends.md describes"
	}
	return nothingRan(p, plan.Refuse(plan.CodeUnsupported, hint, "the backend %s cannot enforce a boundary on %s", p.BackendName(), thisMac.system))
}
