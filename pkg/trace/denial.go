package trace

import (
	"slices"
	"strings"

	"ethos/pkg/record"
)

// RuleDenial is the rule id for what the sandbox denied a command at run time.
const RuleDenial = "runtime.sandbox_denial"

// Denials returns what the sandbox denied the command at run time, and what it
// quarantined afterwards. With denials a successful run is [Found]. They count
// against every baseline, because quarantined files need a person's attention.
//
// The remedy for a refused destination names the tool, if there is one: a user
// can allow the destination for one run or for every run of the tool.
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

// pipeGrant returns how to raise the limit of a denial for a record, if that
// takes another flag than for ethos-sandbox run; else "".
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

// forTool returns what a flag is called in a tool's entry.
func forTool(flag string) string {
	switch {
	case strings.HasPrefix(flag, "--sni "):
		return "write sni: allow for "
	case strings.HasPrefix(flag, "--allow-request "):
		return "add that rule to the list allow of "
	}
	return "add it to the allow_domains of "
}

// Reasons returns why a record may not run, or not without approval: the code
// of a record that contradicts itself, the codes of errors that prevented a
// decision, and the ids of the policies that deny or ask.
func (e *Entry) Reasons() []string {
	var list []string
	if e.inconsistent() != "" {
		list = append(list, reasonBroken)
	}
	if e.Decision != nil {
		for _, f := range e.Decision.Errors {
			list = append(list, f.Code)
		}
		for _, m := range e.Decision.Matches {
			if m.Effect == record.VerdictDeny || m.Effect == record.VerdictAsk {
				list = append(list, m.ID)
			}
		}
	}
	return list
}
