package rule

import (
	"net/netip"
	"slices"
	"strconv"
)

// Rules hold an allow-list and a deny-list. The zero value allows nothing.
type Rules struct {
	Allow, Deny Set

	// Ports lists the ports that an allow pattern without a port stands for;
	// nil means every port. A deny pattern without a port always denies every
	// port.
	Ports []uint16
}

// Reason says why a destination was refused. It is the value of the header
// x-ethos-error.
type Reason string

// The reasons for a refusal by rules.
const (
	NotAllowed    Reason = "denied-by-allowlist" // no allow pattern matches
	Denied        Reason = "denied-by-denylist"  // a deny pattern matches
	DeniedAddress Reason = "denied-address"      // a special address that is not listed
)

// Verdict is the result of checking one destination.
type Verdict struct {
	Allowed bool
	Reason  Reason // "" if allowed
	Rule    string // the pattern that decided, "" if none did
	Class   Class  // of a refused address

	// Remedy is the smallest allow pattern that would allow the destination. It
	// is "" if none would, because a deny pattern matches, and for an address that
	// gives a machine its credentials: a user who wants that must write it.
	Remedy string
}

// remedy returns the pattern that allows a host, which has a class if it is an
// address.
func remedy(h Host, class Class, port uint16) string {
	if class == Metadata {
		return ""
	}
	return h.JoinPort(port)
}

// Destination checks what a program asked for, before a name is resolved. For
// an address it is the complete check.
func (r Rules) Destination(h Host, port uint16) Verdict {
	if h.IsZero() {
		return Verdict{Reason: NotAllowed}
	}
	if p, ok := r.denies(h, port); ok {
		return Verdict{Reason: Denied, Rule: p.String(), Class: classOf(h)}
	}
	if p, ok := r.grants(h, port); ok {
		return Verdict{Allowed: true, Rule: p.String()}
	}
	v := Verdict{Reason: NotAllowed, Class: classOf(h)}
	if v.Class != "" {
		v.Reason = DeniedAddress
	}
	v.Remedy = remedy(h, v.Class, port)
	return v
}

// Address checks one address that an allowed name resolved to. A loopback name
// ("localhost", listed as such) may resolve to a loopback address.
func (r Rules) Address(h Host, addr netip.Addr, port uint16) Verdict {
	at := HostOf(addr)
	if p, ok := r.denies(at, port); ok {
		return Verdict{Reason: Denied, Rule: p.String(), Class: classOf(at)}
	}
	name, ok := r.grants(h, port)
	if !ok {
		return Verdict{Reason: NotAllowed, Remedy: h.JoinPort(port)}
	}
	class := classOf(at)
	if class == "" || h.IsLocal() && class == "loopback" {
		return Verdict{Allowed: true, Rule: name.String()}
	}
	if p, ok := r.grants(at, port); ok {
		return Verdict{Allowed: true, Rule: p.String()}
	}
	return Verdict{Reason: DeniedAddress, Rule: name.String(), Class: class, Remedy: remedy(at, class, port)}
}

// Resolved checks one address of an allowed name when no port is known: it
// reports whether the address can be reached at any port. The remedy covers all
// ports at which the name is allowed, or only the last of them if no single
// pattern covers all.
func (r Rules) Resolved(h Host, addr netip.Addr) (v Verdict) {
	ports := append([]uint16{0}, r.Ports...)
	for _, p := range r.Allow {
		ports = append(ports, p.port)
	}
	listed := true // a pattern without a port suffices
	for _, port := range ports {
		if _, ok := r.grants(h, port); !ok {
			continue
		}
		if v = r.Address(h, addr, port); v.Allowed {
			return v
		}
		listed = listed && (port == 0 || r.Ports == nil || slices.Contains(r.Ports, port))
	}
	if v.Remedy != "" && listed {
		v.Remedy = HostOf(addr).String()
	}
	return v
}

// PortsOf lists, in ascending order, the ports at which a host can be reached,
// as far as patterns name them. It is nil if a pattern allows every port.
func (r Rules) PortsOf(h Host) []uint16 {
	ports := []uint16{}
	for _, p := range r.Allow {
		switch {
		case !p.grants(h):
		case p.port != 0:
			ports = append(ports, p.port)
		case r.Ports == nil:
			return nil
		default:
			ports = append(ports, r.Ports...)
		}
	}
	slices.Sort(ports)
	return slices.DeleteFunc(slices.Compact(ports), func(port uint16) bool { return !r.Destination(h, port).Allowed })
}

// Query checks a name when no port is known: it reports whether the name is
// allowed at any port.
func (r Rules) Query(h Host) Verdict {
	for _, p := range r.Deny {
		if p.port == 0 && p.names(h) {
			return Verdict{Reason: Denied, Rule: p.String()}
		}
	}
	for _, p := range r.Allow {
		if p.grants(h) {
			return Verdict{Allowed: true, Rule: p.String()}
		}
	}
	return Verdict{Reason: NotAllowed, Remedy: h.String()}
}

func (r Rules) denies(h Host, port uint16) (Pattern, bool) {
	for _, p := range r.Deny {
		if (p.port == 0 || p.port == port) && p.names(h) {
			return p, true
		}
	}
	return Pattern{}, false
}

func (r Rules) grants(h Host, port uint16) (Pattern, bool) {
	for _, p := range r.Allow {
		if r.opens(p, port) && p.grants(h) {
			return p, true
		}
	}
	return Pattern{}, false
}

func (r Rules) opens(p Pattern, port uint16) bool {
	if p.port != 0 || r.Ports == nil {
		return p.port == 0 || p.port == port
	}
	return slices.Contains(r.Ports, port)
}

func classOf(h Host) Class {
	if h.addr.IsValid() {
		return Classify(h.addr)
	}
	return ""
}

// String returns the verdict as text for people.
func (v Verdict) String() string {
	switch {
	case v.Allowed:
		return "allowed by " + strconv.Quote(v.Rule)
	case v.Reason == Denied:
		return "denied by " + strconv.Quote(v.Rule)
	case v.Reason == DeniedAddress:
		return string(v.Class) + " address that the allow-list does not name"
	}
	return "not in the allow-list"
}
