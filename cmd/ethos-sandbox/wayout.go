package main

import (
	"slices"

	"ethos/pkg/hook"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/trust"
)

// waysOut adds to the denials of an agent's call what a person can do about
// them.
func (r *recorded) waysOut(denials []record.Denial) []record.Denial {
	if r == nil {
		return denials
	}
	approvable := func(host string) bool { return trust.New(r.sys.Getenv).Carries(r.id, host, r.sys.Now()) }
	denials = slices.Clone(denials)
	for i := range denials {
		if d := &denials[i]; d.Remedy != "" && (d.Kind != "" || d.Layer == sandbox.ControlNetwork) {
			d.Remedy = hook.WayOut(d, r.id, approvable)
		}
	}
	return denials
}
