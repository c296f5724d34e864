package exec

import (
	"fmt"
	"time"

	"ethos/pkg/record"
	"ethos/pkg/sandbox/control"
	"ethos/pkg/sandbox/explain"
	"ethos/pkg/sandbox/plan"
)

// explainPatience bounds the search for an explanation: a path that a command printed may
// lie on a file system that does not respond.
const explainPatience = 5 * time.Second

// Failed describes a command that failed, as far as that is known.
type Failed = explain.Failed

// Explain adds to the evidence of a failed run what can be said about the cause.
func Explain(p *plan.Plan, out *Outcome, f Failed) {
	if d, limited := limit(p, out.Status); limited {
		out.Evidence.Denials = append(out.Evidence.Denials, d)
		return
	}
	if p.Backend == plan.None || p.Backend == plan.Outer || out.Status == record.StatusExited && out.ExitCode == 0 || out.Evidence.Observer == control.Observed || out.Evidence.Reason != "" {
		return
	}
	out.Evidence.Denials = append(out.Evidence.Denials, Infer(p, f)...)
}

// limit returns the denial for the limit at which a command was killed; ok is false if
// there is none.
func limit(p *plan.Plan, status string) (d record.Denial, ok bool) {
	d = record.Denial{Kind: record.KindLimit}
	switch status {
	case record.StatusTimeout:
		d.Layer, d.What, d.Reason, d.Remedy = "timeout", p.Limits.Timeout.String(), "the command was killed at its time limit", ""
		if more, ok := doubled(p.Limits.Timeout, p.MostTime); ok {
			d.Remedy, d.Declare = "--timeout "+more.String(), fmt.Sprintf("capabilities: {timeout_seconds: %d}", int64(more/time.Second))
		} else {
			d.Reason += "; " + plan.AtMost
		}
	case record.StatusOOM:
		d.Layer, d.What, d.Reason = "cgroup", fmt.Sprintf("%d bytes", p.Limits.MemoryBytes), "the command was killed at its memory limit"
		if more, ok := doubled(p.Limits.MemoryBytes, p.MostMemory); ok {
			d.Remedy, d.Declare = fmt.Sprintf("--memory %dM", more>>20), fmt.Sprintf("capabilities: {memory_mb: %d}", more>>20)
		} else {
			d.Reason += "; " + plan.AtMost
		}
	default:
		return d, false
	}
	return d, true
}

// doubled returns twice a limit, or what the ceiling allows at most. ok is false if that is no more
// than the limit.
func doubled[T ~int64](limit, most T) (more T, ok bool) {
	more = 2 * limit
	if most > 0 {
		more = min(more, most)
	}
	return more, more > limit
}

// cut returns the denial for the output limit, which does not end a command: output beyond
// it was counted, but not passed on.
func cut(p *plan.Plan, written int64) (d record.Denial, ok bool) {
	limit := p.Limits.OutputBytes
	if limit <= 0 || written <= limit {
		return d, false
	}
	return record.Denial{
		Layer: "output", What: fmt.Sprintf("%d of %d bytes", written-limit, written), Kind: record.KindLimit, Reason: fmt.Sprintf("was not passed on: the output limit is %d bytes", limit),
		Declare: fmt.Sprintf("capabilities: {output_bytes: %d}", written),
	}, true
}

// Infer returns what can be said about the cause of a failed command; nil if that takes too
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
