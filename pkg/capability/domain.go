package capability

import (
	"fmt"
	"slices"

	"ethos/pkg/egress/rule"
	"ethos/pkg/record"
)

// CheckDomain says why a pattern is not allowed in an allow-list, and what to write instead. The
// host's own loopback, on which every service of this machine listens, is allowed only with one
// explicit port.
func CheckDomain(text string) error {
	p, err := rule.ParsePattern(text)
	switch {
	case err != nil || !p.Loopback():
		return err
	case p.Port() == 0:
		return &rule.ParseError{Pattern: text, Reason: "this would allow every service of this machine; name the port of one, such as localhost:5432"}
	case p.Prefix().IsValid() && (!p.Prefix().IsSingleIP() || p.Prefix().Addr().IsUnspecified()):
		return &rule.ParseError{Pattern: text, Reason: fmt.Sprintf("name one address of this machine; write localhost:%d", p.Port())}
	}
	return nil
}

// checkDenied is CheckDomain for a deny-list, which may be of any width.
func checkDenied(text string) error {
	_, err := rule.ParsePattern(text)
	return err
}

// ofProxy removes the settings that only a proxy can apply.
func ofProxy(n record.Network) record.Network {
	if n.Mode != "proxy" {
		return record.Network{Mode: n.Mode, AllowDomains: []string{}, DenyDomains: n.DenyDomains, ConnectPorts: n.ConnectPorts, BindPorts: n.BindPorts}
	}
	return n
}

// WebPorts are the ports of an allow-list pattern without a port.
var WebPorts = []uint16{80, 443}

// meetDomains returns what both of two allow-lists allow.
func meetDomains(a, b []string) []string {
	var out rule.Set
	for _, p := range patterns(a) {
		for _, q := range patterns(b) {
			met, ok := p.Meet(q)
			if ok && (p.Port() == q.Port() || slices.Contains(WebPorts, met.Port())) {
				out = append(out, met)
			}
		}
	}
	return out.Union(nil).Strings()
}

// beyondAllowed is [beyond] for allow-lists.
func beyondAllowed(list, limit []string) (out []string) {
	bounds := patterns(limit).At(WebPorts)
	for _, text := range list {
		p, err := rule.ParsePattern(text)
		if err != nil && !slices.Contains(limit, text) || err == nil && len(rule.Set{p}.At(WebPorts).Beyond(bounds)) > 0 {
			out = append(out, text)
		}
	}
	return out
}

// patterns returns the valid patterns of an allow-list. An invalid one allows nothing.
func patterns(list []string) (out rule.Set) {
	for _, text := range list {
		if p, err := rule.ParsePattern(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// beyond lists the patterns that no pattern of limit covers. Only an identical pattern covers an
// invalid one.
func beyond(list, limit []string) (out []string) {
	bounds := patterns(limit)
	for _, text := range list {
		p, err := rule.ParsePattern(text)
		covers := func(b rule.Pattern) bool { return err == nil && b.Covers(p) }
		if !slices.Contains(limit, text) && !slices.ContainsFunc(bounds, covers) {
			out = append(out, text)
		}
	}
	return out
}
