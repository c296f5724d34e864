package trace

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// RuleDenial is the rule of what the sandbox denied a command that ran.
const RuleDenial = "runtime.sandbox_denial"

// Denials are what the sandbox denied the command while it ran, and what it
// put aside when the run had ended. They make a run that succeeded [Found],
// and count against every baseline: what lies in quarantine waits for a
// person.
//
// The remedy of a refused destination names the tool, if it is one: a person can
// allow the destination for one run or for each run of the tool.
func (e *Entry) Denials() []record.Denial {
	if e.Result == nil {
		return nil
	}
	denials := e.Result.Capture.Sandbox.Denials
	allowable := func(d record.Denial) bool { return d.Layer == record.LayerNetwork && d.Remedy != "" }
	if slices.ContainsFunc(denials, func(d record.Denial) bool { return pipeGrant(d) != "" }) {
		denials = slices.Clone(denials)
		for i, d := range denials {
			if grant := pipeGrant(d); grant != "" {
				denials[i].Remedy = d.Remedy + ", in the pipe " + grant
			}
		}
	}
	if e.Tool() == "" || !slices.ContainsFunc(denials, allowable) {
		return denials
	}
	denials = slices.Clone(denials)
	for i := range denials {
		if allowable(denials[i]) {
			denials[i].Remedy += ", or " + forTool(denials[i].Remedy) + e.Tool() + " under sandbox.network_tools in repo_config.yaml"
		}
	}
	return denials
}

// pipeGrant is how the limit of a denial is raised for a record, where that has
// another flag than ethos-sandbox run; else "".
func pipeGrant(d record.Denial) string {
	if d.Kind != record.KindLimit {
		return ""
	}
	if long, ok := strings.CutPrefix(d.Remedy, "--timeout "); ok {
		return "ethos-facts --grant timeout=" + long
	}
	if much, ok := strings.CutPrefix(d.Remedy, "--memory "); ok {
		return "ethos-facts --grant memory=" + strings.TrimSuffix(much, "M")
	}
	return ""
}

// forTool says what a flag is in the entry of a tool.
func forTool(flag string) string {
	switch {
	case strings.HasPrefix(flag, "--sni "):
		return "write sni: allow for "
	case strings.HasPrefix(flag, "--allow-request "):
		return "add that rule to the list allow of "
	}
	return "add it to the allow_domains of "
}

// Reasons are why a record may not run, or not without a person: the ids of the
// policies that deny or ask, and the codes of what kept it from being decided.
func (e *Entry) Reasons() []string {
	if e.Decision == nil {
		return nil
	}
	var list []string
	for _, f := range e.Decision.Errors {
		list = append(list, f.Code)
	}
	for _, m := range e.Decision.Matches {
		if m.Effect == record.VerdictDeny || m.Effect == record.VerdictAsk {
			list = append(list, m.ID)
		}
	}
	return list
}
