package dns

import (
	"net/netip"
	"strconv"
	"strings"
)

// reverseName parses a name below in-addr.arpa (RFC 1035, section 3.5) or
// ip6.arpa (RFC 3596, section 2.5). It accepts only the names of complete
// addresses.
func reverseName(name string) (netip.Addr, bool) {
	name = strings.ToLower(name)
	if rest, ok := strings.CutSuffix(name, ".in-addr.arpa"); ok {
		return reverse4(strings.Split(rest, "."))
	}
	if rest, ok := strings.CutSuffix(name, ".ip6.arpa"); ok {
		return reverse6(strings.Split(rest, "."))
	}
	return netip.Addr{}, false
}

func reverse4(labels []string) (netip.Addr, bool) {
	var b [4]byte
	if len(labels) != len(b) {
		return netip.Addr{}, false
	}
	for i, label := range labels {
		n, err := strconv.ParseUint(label, 10, 8)
		if err != nil || strconv.Itoa(int(n)) != label {
			return netip.Addr{}, false
		}
		b[len(b)-1-i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

func reverse6(labels []string) (netip.Addr, bool) {
	var b [16]byte
	if len(labels) != 2*len(b) {
		return netip.Addr{}, false
	}
	for i, label := range labels {
		n, err := strconv.ParseUint(label, 16, 4)
		if err != nil || len(label) != 1 {
			return netip.Addr{}, false
		}
		b[len(b)-1-i/2] |= byte(n) << (4 * (i % 2))
	}
	return netip.AddrFrom16(b), true
}
