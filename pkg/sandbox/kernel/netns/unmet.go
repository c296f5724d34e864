package netns

import (
	"slices"
	"strconv"
	"strings"
)

// Unmet counts requests that failed in a network namespace, according to the
// kernel's counters. They count from the creation of the namespace, for all of
// its processes together, and do not say which address or port was asked for. A
// connection that Landlock refuses is not counted, because it does not reach
// the protocol. Refused is tcpAttemptFails of RFC 1213, which also counts
// connections that timed out.
type Unmet struct {
	NoRoute int64 // connections and datagrams to an address without a route
	NoPort  int64 // datagrams to a local port without a receiver
	Refused int64 // connections that were refused
}

// ParseUnmet parses /proc/PID/net/snmp and /proc/PID/net/snmp6, RFC 1213 and
// RFC 4293. The second is empty if the kernel has no IPv6. Counters are found
// by name, because kernels add further ones in between.
func ParseUnmet(snmp, snmp6 []byte) (u Unmet) {
	lines := slices.Collect(strings.Lines(string(snmp)))
	for i := 0; i+1 < len(lines); i += 2 { // a line of names, then one of values
		names, values := strings.Fields(lines[i]), strings.Fields(lines[i+1])
		for k := 1; k < min(len(names), len(values)); k++ {
			u.count(names[0]+names[k], values[k])
		}
	}
	for line := range strings.Lines(string(snmp6)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			u.count(fields[0], fields[1])
		}
	}
	return u
}

// count adds the value of one counter. A counter that is not of interest, or is
// no number, adds nothing.
func (u *Unmet) count(name, text string) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return
	}
	switch name {
	case "Ip:OutNoRoutes", "Ip6OutNoRoutes":
		u.NoRoute += n
	case "Udp:NoPorts", "Udp6NoPorts":
		u.NoPort += n
	case "Tcp:AttemptFails": // of both families
		u.Refused += n
	}
}
