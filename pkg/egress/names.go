package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"ethos/pkg/egress/dns"
	"ethos/pkg/egress/pool"
	"ethos/pkg/egress/rule"
)

// names answers the queries to the namespace's name server.
type names struct {
	*Gateway
	rules  rule.Rules
	table  *pool.Table
	hosts  Hosts
	search []string
	sink   Sink

	mu    sync.Mutex
	told  map[string]bool // refused names whose event was written
	asked []asked

	lookups []Lookups
	looked  map[string]bool // names that lookups count
}

// asked is an allowed name that was queried.
type asked struct {
	host      rule.Host
	connected bool // a connection to it was made
}

// maxTold limits the refused names remembered; beyond it every refusal writes
// an event.
const maxTold = 10_000

// maxUnconnected limits the queried names remembered.
const maxUnconnected = 100

func (n *names) noteAsked(h rule.Host) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.asked) < maxUnconnected && !slices.ContainsFunc(n.asked, func(a asked) bool { return a.host == h }) {
		n.asked = append(n.asked, asked{host: h})
	}
}

func (n *names) noteConnected(h rule.Host) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.asked {
		if n.asked[i].host == h {
			n.asked[i].connected = true
		}
	}
}

// Unconnected returns the allowed names that were queried but never connected
// to, in the order of their queries. It considers the first hundred queried
// names. A client may have given up for a reason of its own, or have wanted a
// port that nothing listens on.
func (g *Gateway) Unconnected() (hosts []rule.Host) {
	g.names.mu.Lock()
	defer g.names.mu.Unlock()
	for _, a := range g.names.asked {
		if !a.connected {
			hosts = append(hosts, a.host)
		}
	}
	return hosts
}

var loopback = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

func newNames(g *Gateway) (*names, error) {
	c := g.config
	n := &names{Gateway: g, rules: c.Rules, table: c.Table, hosts: c.Hosts, sink: c.Sink, told: map[string]bool{}, looked: map[string]bool{}}
	for _, domain := range c.Search {
		h, err := rule.ParseHost(domain)
		if err != nil {
			return nil, fmt.Errorf("egress: search domain: %w", err)
		}
		n.search = append(n.search, "."+h.String())
	}
	return n, nil
}

// ServeDNS answers queries over UDP until ctx ends. It closes conn.
func (g *Gateway) ServeDNS(ctx context.Context, conn net.PacketConn) error {
	return dns.ServeUDP(ctx, conn, g.names)
}

// ServeDNSStream answers queries over TCP until ctx ends. It closes the
// listener.
func (g *Gateway) ServeDNSStream(ctx context.Context, listener net.Listener) error {
	return dns.ServeTCP(ctx, listener, g.names)
}

// Lookup implements [dns.Names].
func (n *names) Lookup(ctx context.Context, text string) dns.Answer {
	h, err := rule.ParseHost(text)
	if err != nil {
		n.refuse(text, rule.Verdict{Reason: BadRequest}, err.Error())
		return dns.Answer{Status: dns.Blocked}
	}
	if h.IsLocal() {
		return dns.Answer{Status: dns.Found, Addrs: loopback}
	}
	v := n.rules.Query(h)
	switch {
	case v.Allowed && h.Addr().IsValid():
		return dns.Answer{Status: dns.Found, Addrs: []netip.Addr{h.Addr()}}
	case v.Allowed:
		return n.resolved(ctx, h)
	}
	if addrs := n.fixed(h); len(addrs) > 0 {
		return dns.Answer{Status: dns.Found, Addrs: addrs}
	}
	searched, known := n.searched(h)
	if !known {
		n.refuse(h.String(), v, v.String())
	}
	if searched {
		return dns.Answer{Status: dns.Absent}
	}
	return dns.Answer{Status: dns.Blocked}
}

// resolved answers for an allowed name according to its outside resolution: a
// name that does not exist, or whose addresses are all refused, fails at the
// query instead of at each connection. With an upstream proxy nothing is
// resolved here, because the proxy does it.
func (n *names) resolved(ctx context.Context, h rule.Host) dns.Answer {
	if n.config.Upstream.Tunnel(h.Name(), 443) != nil {
		return n.assign(h)
	}
	found, err := n.resolutions.lookup(ctx, h)
	var missing *net.DNSError
	switch {
	case errors.As(err, &missing) && missing.IsNotFound:
		return dns.Answer{Status: dns.Absent}
	case err != nil:
		return dns.Answer{Status: dns.Failed}
	}
	var refusal *Refusal
	if _, err = judged(h, found, func(addr netip.Addr) rule.Verdict { return n.rules.Resolved(h, addr) }); errors.As(err, &refusal) {
		n.refuse(h.Name(), refusal.Verdict, refusal.Error())
		return dns.Answer{Status: dns.Blocked}
	}
	return n.assign(h)
}

func (n *names) assign(h rule.Host) dns.Answer {
	v4, v6, ok := n.table.Assign(h.Name())
	if !ok {
		n.refuse(h.Name(), rule.Verdict{Reason: Overloaded}, "the table of names is full")
		return dns.Answer{Status: dns.Failed}
	}
	n.noteAsked(h)
	answer := dns.Answer{Status: dns.Found}
	for _, addr := range []netip.Addr{v4, v6} {
		if addr.IsValid() {
			answer.Addrs = append(answer.Addrs, addr)
		}
	}
	return answer
}

// fixed returns the addresses in the hosts file that are valid inside: loopback
// addresses, which are the namespace's own, and addresses that the rules name.
func (n *names) fixed(h rule.Host) (addrs []netip.Addr) {
	if d := n.rules.Query(h); d.Reason == rule.Denied {
		return nil
	}
	for _, addr := range n.hosts[h.Name()] {
		if addr.IsLoopback() || n.rules.Query(rule.HostOf(addr)).Allowed {
			addrs = append(addrs, addr)
		}
	}
	return addrs
}

// searched reports whether a name ends in a search domain, and whether the name
// without it is known. If it is known, a refusal of the longer name carries no
// information.
func (n *names) searched(h rule.Host) (searched, known bool) {
	for _, suffix := range n.search {
		inner, ok := strings.CutSuffix(h.Name(), suffix)
		if !ok {
			continue
		}
		searched = true
		g, err := rule.ParseHost(inner)
		if err == nil && (g.IsLocal() || n.rules.Query(g).Allowed || len(n.fixed(g)) > 0) {
			known = true
		}
	}
	return searched, known
}

// Reverse implements [dns.Names].
func (n *names) Reverse(addr netip.Addr) (string, bool) {
	if name, ok := n.table.Name(addr); ok || !addr.IsLoopback() {
		return name, ok
	}
	return rule.Localhost.Name(), true
}

// refuse writes the event for a refused name, at its first refusal.
func (n *names) refuse(name string, v rule.Verdict, detail string) {
	n.mu.Lock()
	told := n.told[name]
	if !told && len(n.told) < maxTold {
		n.told[name] = true
	}
	n.mu.Unlock()
	if !told {
		n.sink.Record(Event{Time: time.Now(), Door: DoorDNS, Name: name, Rule: v.Rule, Reason: v.Reason, Detail: detail, Remedy: v.Remedy})
	}
}
