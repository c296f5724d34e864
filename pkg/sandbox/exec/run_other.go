//go:build !linux

package exec

import (
	"context"
	"runtime"

	"ethos/pkg/sandbox/plan"
)

// Release does nothing on this system.
func Release() {}

// Run refuses every plan: there is no boundary on this system, and nothing runs without
// one.
func Run(_ context.Context, p *plan.Plan, _ IO) (Outcome, error) {
	err := plan.Refuse(plan.CodeUnsupported, "run it on Linux 5.13 or newer, for instance in a virtual machine", "ethos-sandbox cannot enforce a boundary on %s", runtime.GOOS)
	e := plan.Requested(p)
	e.Denied, e.Reason = true, err.Error()
	return Outcome{Evidence: e}, err
}
