package rule

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Pattern names destinations. The forms are
//
//	example.com      the name alone
//	*.example.com    every name below it, at any depth, but not the name itself
//	*                every name and every global address
//	192.0.2.7        an address, IPv4 or IPv6
//	192.0.2.0/24     a network
//
// each with an optional ":port" (IPv6 in brackets). Patterns are comparable.
type Pattern struct {
	name   string // A-labels; "" together with below means "*"
	below  bool
	prefix netip.Prefix
	port   uint16 // 0 means any port
}

// ParseError is the error for a pattern that is invalid or ambiguous.
type ParseError struct {
	Pattern string
	Reason  string
}

func (e *ParseError) Error() string { return fmt.Sprintf("pattern %.300q: %s", e.Pattern, e.Reason) }

// ParsePattern parses one pattern. It rejects ambiguous input: addresses must
// have their usual spelling, and networks no host bits.
func ParsePattern(s string) (Pattern, error) {
	refuse := func(reason string) (Pattern, error) { return Pattern{}, &ParseError{s, reason} }
	if strings.Contains(s, "://") || strings.ContainsAny(s, "@?#\\") {
		return refuse("write a host name or an address, not a URL")
	}
	text, portText, hasPort := splitPort(s)
	p := Pattern{}
	if hasPort {
		var ok bool
		if p.port, ok = parsePort(portText); !ok {
			return refuse("a port is a number from 1 to 65535")
		}
	}
	if text == "*" {
		p.below = true
		return p, nil
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if text, ok = strings.CutSuffix(inner, "]"); !ok || !strings.Contains(text, ":") {
			return refuse("brackets hold an IPv6 address or network")
		}
	}
	if strings.ContainsAny(text, "/:%") {
		return p.network(s, text)
	}
	return p.host(s, text)
}

// network completes a pattern that is an IPv6 address or a network.
func (p Pattern) network(s, text string) (Pattern, error) {
	refuse := func(reason string) (Pattern, error) { return Pattern{}, &ParseError{s, reason} }
	if strings.Contains(text, "%") {
		return refuse("an address in a rule cannot have a zone")
	}
	prefix, err := netip.ParsePrefix(text)
	if addr, addrErr := netip.ParseAddr(text); addrErr == nil {
		prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	if err != nil {
		return refuse("neither an address nor a network such as 10.0.0.0/8; a rule has no path")
	}
	if prefix != prefix.Masked() {
		return refuse("the address has bits beyond the length of the network; write " + prefix.Masked().String())
	}
	if prefix.Addr().Is4In6() {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	p.prefix = prefix
	return p, nil
}

// host completes a pattern that is a name or an IPv4 address.
func (p Pattern) host(s, text string) (Pattern, error) {
	refuse := func(reason string) (Pattern, error) { return Pattern{}, &ParseError{s, reason} }
	if rest, ok := strings.CutPrefix(text, "*."); ok {
		p.below, text = true, rest
	}
	if strings.Contains(text, "*") {
		return refuse("a star stands for whole labels, at the front: *.example.com")
	}
	h, err := ParseHost(text)
	switch {
	case err != nil:
		_, reason, _ := strings.Cut(err.Error(), strconv.Quote(text)+": ")
		return refuse(cmp.Or(reason, err.Error()))
	case h.addr.IsValid() && p.below:
		return refuse("a star stands before a name, not before an address")
	case h.addr.IsValid() && h.addr.String() != text:
		return refuse("write the address as " + h.addr.String())
	case h.addr.IsValid():
		p.prefix = netip.PrefixFrom(h.addr, h.addr.BitLen())
	default:
		p.name = h.name
	}
	return p, nil
}

// String returns the pattern in its normal form, which ParsePattern accepts.
func (p Pattern) String() string {
	host := p.name
	switch {
	case p.prefix.IsValid() && p.prefix.IsSingleIP():
		host = p.prefix.Addr().String()
	case p.prefix.IsValid():
		host = p.prefix.String()
	case p.everything():
		host = "*"
	case p.below:
		host = "*." + p.name
	}
	if p.port == 0 {
		return host
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(p.port))
}

// Host returns the pattern without its port: a name, *.name, *, an address or a
// network.
func (p Pattern) Host() string {
	p.port = 0
	return p.String()
}

// Port returns the port of the pattern, or 0 for any port.
func (p Pattern) Port() uint16 { return p.port }

// Prefix returns the network of the pattern; it is invalid for a name.
func (p Pattern) Prefix() netip.Prefix { return p.prefix }

func (p Pattern) everything() bool { return p.below && p.name == "" }

// names reports whether the text of the pattern alone matches h. Deny patterns
// are matched this way.
func (p Pattern) names(h Host) bool {
	switch {
	case p.everything():
		return true
	case p.prefix.IsValid():
		return h.addr.IsValid() && p.contains(h.addr)
	case h.addr.IsValid():
		return false
	case p.below:
		return strings.HasSuffix(h.name, "."+p.name)
	}
	return h.name == p.name
}

// contains also checks the IPv4 address that an IPv6 address embeds.
func (p Pattern) contains(addr netip.Addr) bool {
	if p.prefix.Contains(addr) {
		return true
	}
	_, inner, ok := embedded(netip.PrefixFrom(addr, addr.BitLen()))
	return ok && p.prefix.Contains(inner.Addr())
}

// grants reports whether the pattern allows h when it is in an allow-list. Only
// a pattern of the same scope allows a special address, and only a pattern with
// localhost allows the loopback names.
func (p Pattern) grants(h Host) bool {
	if h.addr.IsValid() {
		at := netip.PrefixFrom(h.addr, h.addr.BitLen())
		inside := p.everything() || p.prefix.IsValid() && p.prefix.Contains(h.addr)
		return inside && p.scope() == scopeOf(at)
	}
	return p.names(h) && (!h.IsLocal() || local(p.name))
}

func (p Pattern) scope() scope {
	if p.prefix.IsValid() {
		return scopeOf(p.prefix)
	}
	return scope{}
}
