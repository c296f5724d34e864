package sarif

import (
	"cmp"
	"strings"

	"ethos/pkg/record"
	"ethos/pkg/trace"
)

// denied returns the result for a sandbox denial at run time. Its location is
// the file it is about, else the command. Its identity is the layer, that file
// and the problem. It does not depend on the path of the workspace, nor on the
// name under which a quarantined file is kept.
func (r *run) denied(e *trace.Entry, d record.Denial) draft {
	what := relative(e.Action.Workspace, d.What)
	text := sentence(d.Layer + ": " + what + ": " + cmp.Or(d.Reason, "denied") + d.Guess())
	if d.Kept != "" {
		text += " " + sentence("Kept in "+d.Kept)
	}
	if d.Remedy != "" {
		text += " " + sentence("To do: "+d.Remedy)
	}
	file := relative(e.Action.Workspace, d.Path)
	out := draft{identity: []string{trace.RuleDenial, d.Layer, file, what}}
	out.result = result{
		RuleID: trace.RuleDenial, Level: "error", Message: message{literal(text)},
		RuleIndex:  r.rules.use(trace.RuleDenial, denialRule),
		Properties: map[string]any{"action": e.Line.ID(), "layer": d.Layer, "kept": d.Kept, "remedy": d.Remedy},
	}
	if d.Kind != "" { // advice, not an action
		out.result.Level = "warning"
		out.result.Properties["kind"], out.result.Properties["certainty"], out.result.Properties["declare"] = d.Kind, d.Certainty, d.Declare
	}
	if d.Path == "" {
		out.locateInCommand(r, e)
		return out.attributed(r)
	}
	out.result.Locations = []location{r.at(e, d.Path, 1)}
	return out.attributed(r)
}

func relative(workspace, path string) string {
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(workspace, "/")+"/"); ok && workspace != "" {
		return rest
	}
	return path
}

func denialRule() *rule {
	r := policyRule(trace.Reason{
		ID: trace.RuleDenial, Effect: record.VerdictDeny,
		Message: "The sandbox denied something to a command that ran, or quarantined what it left behind.",
		Remedy:  "Allow what the command needs, as the result says. Read what was quarantined before you restore it.",
	})
	r.Properties["tags"] = []string{"security", "ethos", "security-by-design", "one-path-for-critical-operations"}
	return r
}

// deniedNote returns the notification for a denial at run time (3.58).
func (r *run) deniedNote(e *trace.Entry, d record.Denial) notification {
	res := r.denied(e, d).result
	return notification{
		Descriptor: &ruleReference{ID: "sandbox." + d.Layer}, AssociatedRule: &ruleReference{ID: trace.RuleDenial, Index: res.RuleIndex},
		Level: "error", Message: res.Message,
	}
}
