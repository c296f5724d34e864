package exec

import (
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/sandbox/plan"
)

// explainPatience bounds the search for an explanation: a path that a command
// printed can lie on a file system that does not answer.
const explainPatience = 5 * time.Second

// Failed is a command that failed, as far as it is known.
type Failed = explain.Failed

// Explain adds to the evidence of a run that failed what can be told of why.
func Explain(p *plan.Plan, out *Outcome, f Failed) {
	if out.Status == record.StatusExited && out.ExitCode == 0 || out.Evidence.Observer == control.Observed || out.Evidence.Reason != "" {
		return
	}
	out.Evidence.Denials = append(out.Evidence.Denials, Infer(p, f)...)
}

// Infer is what can be told of a failed command; nothing where that takes too
// long.
func Infer(p *plan.Plan, f Failed) []record.Denial {
	found := make(chan []record.Denial, 1)
	go func() { found <- explain.Here(p).Infer(f) }()
	select {
	case list := <-found:
		return list
	case <-time.After(explainPatience):
		return nil
	}
}
