package capability

import (
	"net/netip"
	"slices"
	"strings"
)

// domain is one pattern of a network list: a name, "*.name" (any depth, not the
// name itself), "*", an address or a prefix; with an optional port.
type domain struct {
	name   string // lower case, without its trailing dot; "" when prefix is set
	below  bool   // "*.name"; with an empty name, everything
	prefix netip.Prefix
	port   string // "" is any
}

func parseDomain(pattern string) domain {
	host, port := splitPort(pattern)
	d := domain{port: port}
	if p, ok := parsePrefix(host); ok {
		d.prefix = p
		return d
	}
	d.name = strings.ToLower(strings.TrimSuffix(host, "."))
	switch {
	case d.name == "*":
		d.name, d.below = "", true
	case strings.HasPrefix(d.name, "*."):
		d.name, d.below = d.name[2:], true
	}
	return d
}

// splitPort takes ":port" off a name, an IPv4 address or a bracketed IPv6
// address; a bare IPv6 address has none.
func splitPort(s string) (host, port string) {
	if strings.HasPrefix(s, "[") {
		host, rest, _ := strings.Cut(s[1:], "]")
		return host, strings.TrimPrefix(rest, ":")
	}
	if strings.Count(s, ":") == 1 {
		host, port, _ = strings.Cut(s, ":")
		return host, port
	}
	return s, ""
}

func parsePrefix(s string) (netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), true
	}
	return netip.Prefix{}, false
}

// coversHost reports that every host of e is one of d.
func (d domain) coversHost(e domain) bool {
	switch {
	case d.below && d.name == "":
		return true
	case d.prefix.IsValid() || e.prefix.IsValid():
		return d.prefix.IsValid() && e.prefix.IsValid() &&
			d.prefix.Bits() <= e.prefix.Bits() && d.prefix.Contains(e.prefix.Addr())
	case d.below:
		return strings.HasSuffix(e.name, "."+d.name) || e.below && e.name == d.name
	}
	return !e.below && d.name == e.name
}

func (d domain) covers(e domain) bool {
	return d.coversHost(e) && (d.port == "" || d.port == e.port)
}

// String writes the pattern in its one normal form.
func (d domain) String() string {
	host := d.name
	switch {
	case d.prefix.IsValid() && d.prefix.IsSingleIP():
		host = d.prefix.Addr().String()
	case d.prefix.IsValid():
		host = d.prefix.String()
	case d.below && d.name == "":
		host = "*"
	case d.below:
		host = "*." + d.name
	}
	switch {
	case d.port == "":
		return host
	case strings.Contains(host, ":"):
		return "[" + host + "]:" + d.port
	}
	return host + ":" + d.port
}

// meet is what both patterns name; false when that is nothing.
func (d domain) meet(e domain) (domain, bool) {
	if !d.coversHost(e) {
		d, e = e, d
	}
	if !d.coversHost(e) || d.port != "" && e.port != "" && d.port != e.port {
		return domain{}, false
	}
	if e.port == "" {
		e.port = d.port
	}
	return e, true
}

// meetDomains is the intersection of two allow-lists.
func meetDomains(a, b []string) []string {
	out := []string{}
	for _, p := range a {
		for _, q := range b {
			if d, ok := parseDomain(p).meet(parseDomain(q)); ok {
				out = append(out, d.String())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// beyond lists the patterns that no pattern of limit covers.
func beyond(patterns, limit []string) (out []string) {
	for _, p := range patterns {
		d := parseDomain(p)
		if !slices.ContainsFunc(limit, func(l string) bool { return parseDomain(l).covers(d) }) {
			out = append(out, p)
		}
	}
	return out
}
