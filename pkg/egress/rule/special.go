package rule

import (
	"net/netip"

	"ethos/pkg/lazy"
)

// Class names the special block of an address in words for messages: "loopback", "private", …. It
// is "" for an ordinary global address.
type Class string

// Metadata is the class of the addresses at which cloud providers give credentials to their
// machines.
const Metadata Class = "metadata service"

// Classify returns the class of an address. For an address that embeds an IPv4 address (NAT64,
// 6to4) it returns the class of the embedded address, if that is special.
func Classify(addr netip.Addr) Class {
	addr = addr.Unmap().WithZone("")
	return scopeOf(netip.PrefixFrom(addr, addr.BitLen())).class
}

// Loopback reports whether a pattern allows this machine's own loopback: it is a loopback name, or
// covers loopback addresses. connect(2) treats the unspecified address as loopback.
func (p Pattern) Loopback() bool {
	class := p.scope().class
	return local(p.name) || class == "loopback" || class == "unspecified"
}

// scope is the smallest special block around a prefix; the zero scope is the global Internet. A
// prefix allows the addresses of its own scope and no others.
type scope struct {
	class Class
	block netip.Prefix
	via   netip.Prefix // the translation prefix, if block is embedded
}

// blocks lists the IANA special-purpose registries (RFC 6890 and its updates) as of 2025, without
// the globally reachable ones, and adds the addresses of cloud metadata services. The documentation
// blocks (RFC 5737, RFC 3849) are left out: a network has services there only if they were set up
// to be reached by name, such as a mirror of a registry. IPv6 outside 2000::/3 is special as a
// whole, because IANA has assigned no global unicast address there except the NAT64 prefix.
var blocks = lazy.Value[[]scope]{Make: func() []scope {
	table := []struct {
		class    Class
		prefixes []string
	}{
		{Metadata, []string{
			"169.254.169.254/32", "fd00:ec2::254/128", // EC2, Azure, GCP, DigitalOcean, Oracle, OpenStack
			"169.254.170.2/32", "169.254.170.23/32", "fd00:ec2::23/128", // credentials of ECS tasks and EKS pods
			"fd20:ce::254/128",                    // GCP
			"168.63.129.16/32",                    // Azure's host agent
			"100.100.100.200/32",                  // Alibaba Cloud
			"192.0.0.192/32", "169.254.0.23/32"}}, // Oracle Cloud, Tencent Cloud
		{"loopback", []string{"127.0.0.0/8", "::1/128"}},
		{"unspecified", []string{"0.0.0.0/8", "::/128"}}, // connect(2) to 0.0.0.0 reaches the loopback
		{"private", []string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"}},
		{"carrier-grade NAT", []string{"100.64.0.0/10"}},
		{"link-local", []string{"169.254.0.0/16", "fe80::/10"}},
		{"site-local", []string{"fec0::/10"}},
		{"multicast", []string{"224.0.0.0/4", "ff00::/8"}},
		{"benchmarking", []string{"198.18.0.0/15", "2001:2::/48"}},
		{"reserved", []string{"192.0.0.0/24", "240.0.0.0/4", "2001::/23", "::/3", "4000::/2", "8000::/1"}},
		{"broadcast", []string{"255.255.255.255/32"}},
		{"discard", []string{"100::/64"}},
		{"6to4", []string{"192.88.99.0/24", "2002::/16"}},      // RFC 7526
		{"Teredo", []string{"2001::/32"}},                      // RFC 4380
		{"IPv4 translation", []string{"64:ff9b:1::/48"}},       // RFC 8215
		{"IPv4 in IPv6", []string{"::/96", "::ffff:0:0:0/96"}}, // RFC 4291 2.5.5.1, RFC 2765
		{"", []string{"64:ff9b::/96"}},                         // RFC 6052: as global as the embedded address
	}
	var all []scope
	for _, row := range table {
		for _, p := range row.prefixes {
			all = append(all, scope{class: row.class, block: netip.MustParsePrefix(p)})
		}
	}
	return all
}}

// scopeOf returns the most specific block that contains all of p.
func scopeOf(p netip.Prefix) scope {
	if via, inner, ok := embedded(p); ok {
		if s := scopeOf(inner); s.class != "" {
			s.via = via
			return s
		}
	}
	best := scope{}
	for _, s := range blocks.Get() {
		if encloses(s.block, p) && (!best.block.IsValid() || s.block.Bits() > best.block.Bits()) {
			best = s
		}
	}
	if best.class == "" {
		return scope{}
	}
	return best
}

// embedding has the prefixes that embed an IPv4 address: RFC 6052 after 96 bits, RFC 3056 after 16.
var embedding = lazy.Value[[]netip.Prefix]{Make: func() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16")}
}}

// embedded returns the IPv4 prefix inside a NAT64 or 6to4 prefix.
func embedded(p netip.Prefix) (via, inner netip.Prefix, ok bool) {
	for _, via := range embedding.Get() {
		if !encloses(via, p) {
			continue
		}
		b, at := p.Addr().As16(), via.Bits()/8
		addr := netip.AddrFrom4([4]byte(b[at : at+4]))
		return via, netip.PrefixFrom(addr, min(p.Bits()-via.Bits(), 32)).Masked(), true
	}
	return netip.Prefix{}, netip.Prefix{}, false
}

// encloses reports whether p contains every address of q.
func encloses(p, q netip.Prefix) bool { return p.Bits() <= q.Bits() && p.Contains(q.Addr()) }
