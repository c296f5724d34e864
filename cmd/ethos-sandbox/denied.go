package main

import (
	"fmt"
	"sync"
	"sync/atomic"

	"ethos/pkg/cli"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
)

// warnDenied reports what the command was denied, and what it left to be run
// outside. What was recovered has already been reported.
func warnDenied(sys *cli.System, plan *sandbox.Plan, out sandbox.Outcome) {
	warnLimits(sys, plan, out)
	warn(sys, out.Evidence.Denials[min(len(plan.Recovered), len(out.Evidence.Denials)):])
}

// warnLimits reports a limit that was requested by name and cannot be enforced:
// only a cgroup can limit processor time. The other limits have substitutes.
func warnLimits(sys *cli.System, plan *sandbox.Plan, out sandbox.Outcome) {
	if !plan.Asked || plan.Limits.CPUPercent == 0 {
		return
	}
	for _, c := range out.Evidence.Controls {
		if c.Name == "cgroup" && c.State != "enforced" {
			warnUnheld(sys, plan.Limits.CPUPercent, c.Reason)
		}
	}
}

func warnUnheld(sys *cli.System, percent int64, why string) {
	sys.Warn(fmt.Sprintf("the limit of %d%% of a processor is not in force: %s", percent, why), "with --require cgroup nothing runs without a cgroup, and the refusal says how to get one")
}

func warn(sys *cli.System, denials []record.Denial) {
	refused := 0
	for _, d := range denials {
		if d.Kind == record.KindLimit { // reported with the end of the command
			continue
		}
		if d.Kind != "" {
			sys.Deny(explained(d), d.Remedy)
			continue
		}
		switch d.Layer {
		case sandbox.ControlGit, sandbox.ControlNames:
			message := d.What + ": " + d.Reason
			if d.Kept != "" {
				message += "; kept in " + d.Kept
			}
			sys.Warn(message, d.Remedy)
		case sandbox.ControlSigning:
			sys.Deny(deniedText(d), d.Remedy)
		case sandbox.ControlNetwork:
			if refused++; refused <= maxRefusals {
				sys.Deny(deniedText(d), d.Remedy+sandbox.PortHint(d.Remedy))
			}
		}
	}
	if more := refused - maxRefusals; more > 0 {
		sys.Deny(fmt.Sprintf("network: %d more", more), "--evidence FILE lists them")
	}
}

func deniedText(d record.Denial) string { return d.Layer + ": " + d.What + ": " + d.Reason }

// maxRefusals limits the lines about refused destinations, while the command
// runs and at its end.
const maxRefusals = 20

// refusals reports refused destinations immediately, before the command gives
// up, which can take minutes. The hints follow at the end.
type refusals struct {
	sys   *cli.System
	told  atomic.Int32
	mu    sync.Mutex
	ended bool
}

// tell writes the line for a refused destination. It does not block if nobody
// reads standard error.
func (r *refusals) tell(d record.Denial) {
	if r.told.Add(1) > maxRefusals {
		return
	}
	go func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.ended && cli.TakesLines(r.sys.Stderr) {
			r.sys.Deny(deniedText(d), "")
		}
	}()
}

// end keeps late lines from mixing with the final ones.
func (r *refusals) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
