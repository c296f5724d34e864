package rule

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Host is a destination in normal form: a name or an address. Hosts are
// comparable; the zero Host is no destination.
type Host struct {
	name string
	addr netip.Addr
}

// HostOf returns the host of an address. An IPv4-mapped IPv6 address becomes
// IPv4, and a zone is dropped.
func HostOf(addr netip.Addr) Host { return Host{addr: addr.Unmap().WithZone("")} }

// Localhost is the name for the loopback interface: RFC 6761, section 6.3.
var Localhost = Host{name: "localhost"}

// Name returns the name in A-labels, or "" for an address.
func (h Host) Name() string { return h.name }

// Addr returns the address; it is invalid for a name.
func (h Host) Addr() netip.Addr { return h.addr }

// IsZero reports whether h is the zero Host.
func (h Host) IsZero() bool { return h == Host{} }

// String returns the name, or the address without brackets.
func (h Host) String() string {
	if h.addr.IsValid() {
		return h.addr.String()
	}
	return h.name
}

// IsLocal reports whether h is "localhost" or a name below it. Such names stand
// for the loopback interface and are never looked up: RFC 6761, section 6.3.
func (h Host) IsLocal() bool { return local(h.name) }

func local(name string) bool {
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// JoinPort returns host and port in the form that URLs use.
func (h Host) JoinPort(port uint16) string {
	if h.addr.Is6() {
		return "[" + h.addr.String() + "]:" + strconv.Itoa(int(port))
	}
	return h.String() + ":" + strconv.Itoa(int(port))
}

// ErrHost is wrapped by every error for a host without a normal form.
var ErrHost = errors.New("not a host")

func badHost(s, reason string) error { return fmt.Errorf("%w: %.300q: %s", ErrHost, s, reason) }

// ParseHost returns the normal form of a host as programs write it: a name in
// any script and case, or an address in any spelling that inet_aton(3) or the
// WHATWG URL standard accepts, with or without brackets for IPv6. It rejects
// ports, user information and percent-encoding.
func ParseHost(s string) (Host, error) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok || !strings.Contains(inner, ":") {
			return Host{}, badHost(s, "brackets hold an IPv6 address")
		}
		return parseIPv6(s, inner)
	}
	if strings.Contains(s, ":") {
		return parseIPv6(s, s)
	}
	name, err := asciiName(s)
	if err != nil {
		return Host{}, err
	}
	if endsInNumber(name) {
		addr, ok := parseIPv4(name)
		if !ok {
			return Host{}, badHost(s, "it ends in a number, but is not an IPv4 address")
		}
		return Host{addr: addr}, nil
	}
	if reason := badName(name); reason != "" {
		return Host{}, badHost(s, reason)
	}
	return Host{name: name}, nil
}

// parseIPv6 drops the zone, because a zone selects an interface and rules
// cannot name one. The rest is checked as the address that it is.
func parseIPv6(whole, s string) (Host, error) {
	s, _, _ = strings.Cut(s, "%")
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return Host{}, badHost(whole, "not an IPv6 address")
	}
	return HostOf(addr), nil
}

// badName says why a lower-case ASCII text is not a host name, or returns "" if
// it is one. Underscores are valid, because existing hosts have them.
func badName(name string) string {
	if name == "" {
		return "empty"
	}
	if len(name) > 253 { // RFC 1035, section 2.3.4, in text form without the root
		return "longer than 253 bytes"
	}
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case label == "":
			return "empty label"
		case len(label) > 63:
			return "label longer than 63 bytes"
		case strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "":
			return "a name has letters, digits, dashes and dots"
		case strings.ContainsFunc(label, notNameByte):
			return "a name has letters, digits, dashes and dots"
		}
	}
	return ""
}

func notNameByte(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
}

// ParseAuthority parses "host:port" or, if defaultPort is not 0, also "host".
// It drops user information before the last "@", which is not part of the
// destination.
func ParseAuthority(s string, defaultPort uint16) (Host, uint16, error) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	text, portText, hasPort := splitPort(s)
	port := defaultPort
	if hasPort {
		var ok bool
		if port, ok = parsePort(portText); !ok {
			return Host{}, 0, badHost(s, "not a port")
		}
	}
	if port == 0 {
		return Host{}, 0, badHost(s, "no port")
	}
	host, err := ParseHost(text)
	return host, port, err
}

// splitPort splits ":port" off a name, an IPv4 address or a bracketed IPv6
// address. An IPv6 address without brackets has no port.
func splitPort(s string) (host, port string, has bool) {
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 || end+1 == len(s) || s[end+1] != ':' {
			return s, "", false
		}
		return s[:end+1], s[end+2:], true
	}
	if strings.Count(s, ":") == 1 {
		return strings.Cut(s, ":")
	}
	return s, "", false
}

// parsePort parses decimal digits without sign or leading zero, from 1 to
// 65535.
func parsePort(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && n > 0 && s[0] != '0' && s[0] != '+'
}
