package egress

import (
	"bufio"
	"io"
	"net/netip"
	"slices"
	"strings"

	"ethos/pkg/egress/rule"
)

// Hosts maps names, in normal form, to fixed addresses.
type Hosts map[string][]netip.Addr

// ParseHosts parses a hosts file, hosts(5). Like the C library, it ignores
// lines that do not name an address and hosts.
func ParseHosts(r io.Reader) (Hosts, error) {
	hosts := Hosts{}
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		text, _, _ := strings.Cut(scanner.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err != nil {
			continue
		}
		for _, name := range fields[1:] {
			h, err := rule.ParseHost(name)
			if err == nil && !h.Addr().IsValid() && !slices.Contains(hosts[h.Name()], addr.Unmap()) {
				hosts[h.Name()] = append(hosts[h.Name()], addr.Unmap())
			}
		}
	}
	return hosts, scanner.Err()
}
