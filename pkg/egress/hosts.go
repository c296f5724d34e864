package egress

import (
	"bufio"
	"io"
	"net/netip"
	"slices"
	"strings"

	"ethos/pkg/egress/rule"
)

// Hosts are names with fixed addresses, by their normal form.
type Hosts map[string][]netip.Addr

// ParseHosts reads a hosts file, hosts(5). Lines that do not name an address
// and hosts are passed over, as the C library does.
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
