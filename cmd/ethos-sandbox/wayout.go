package main

import (
	"slices"
	"strings"

	egressrule "ethos/pkg/egress/rule"
	"ethos/pkg/record"
	"ethos/pkg/sandbox"
	"ethos/pkg/trust"
)

// waysOut says of the denials of an agent's call what a person does. The flags
// that would allow them are nothing to the agent, whose hook writes its own.
func (r *recorded) waysOut(denials []record.Denial) []record.Denial {
	if r == nil {
		return denials
	}
	denials = slices.Clone(denials)
	for i := range denials {
		if d := &denials[i]; d.Remedy != "" && (d.Kind != "" || d.Layer == sandbox.ControlNetwork) {
			d.Remedy = r.wayOut(d)
		}
	}
	return denials
}

func (r *recorded) wayOut(d *record.Denial) string {
	host, network := strings.CutPrefix(d.Remedy, "--allow-domain ")
	switch {
	case network && r.approvable(strings.Trim(host, "'")):
		return "a person lets the call have it once, with ethos-decide approve " + r.id + "; then give the same call again"
	case network:
		return "a person declares the name for its tool in repo_config.yaml (network_tools), and gives ethos-decide trust repo_config.yaml"
	case d.Declare != "":
		return "a person writes " + d.Declare + " below sandbox in repo_config.yaml, and gives ethos-decide trust repo_config.yaml"
	}
	return "a person starts a session that has it, ethos-sandbox session start --name NAME " + d.Remedy + ", and names it in the hook: --session NAME"
}

// approvable reports whether an approval of the call would bring a name with it.
func (r *recorded) approvable(host string) bool {
	asked, err := egressrule.ParsePattern(host)
	if err != nil {
		return false
	}
	list, err := trust.New(r.sys.Getenv).Refused(r.sys.Now())
	if err != nil {
		return false
	}
	i := slices.IndexFunc(list, func(c trust.Refused) bool { return c.ID == r.id })
	return i >= 0 && slices.ContainsFunc(list[i].Grants, func(grant string) bool {
		pattern, ok := strings.CutPrefix(grant, "domain=")
		p, err := egressrule.ParsePattern(pattern)
		return ok && err == nil && p.Covers(asked)
	})
}
